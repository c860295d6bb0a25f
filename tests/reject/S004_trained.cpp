// torch
// A row-parallel layer without a column-parallel layer before it is one error in a program that
// trains.
#include "points.hpp"
#include <redco/layer/wrappers.hpp>

#if REDCO_ACCEPT
using network = redco::sequential<redco::layers::enter_layer, redco::column_linear<1, 8>, redco::row_linear<8, 1>>;
#else  // expect: redco[S004]
using network = redco::sequential<redco::linear<1, 8>, redco::relu, redco::linear<8, 4>, redco::row_linear<4, 1>>;
#endif

inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);

#include "train_points.hpp"
