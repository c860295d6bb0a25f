// torch
// A norm of split features is one error in a program that trains.
#include "points.hpp"
#include <redco/layer/norms.hpp>
#include <redco/layer/wrappers.hpp>

#if REDCO_ACCEPT
using network = redco::sequential<redco::linear<1, 8>, redco::relu, redco::linear<8, 1>, redco::layer_norm<1>>;
#else  // expect: redco[S008]
using network = redco::sequential<redco::layers::enter_layer, redco::column_linear<1, 8>, redco::layer_norm<8>,
                                  redco::row_linear<8, 1>>;
#endif

inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);

#include "train_points.hpp"
