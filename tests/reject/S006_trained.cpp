// torch
// A column-parallel layer on a replicated value is one error in a program that trains.
#include "points.hpp"
#include <redco/layer/wrappers.hpp>

#if REDCO_ACCEPT
using network = redco::sequential<redco::layers::enter_layer, redco::column_linear<1, 8>, redco::row_linear<8, 1>>;
#else  // expect: redco[S006]
using network = redco::sequential<redco::column_linear<1, 8>, redco::row_linear<8, 1>>;
#endif

inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);

#include "train_points.hpp"
