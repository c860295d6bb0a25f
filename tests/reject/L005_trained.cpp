// torch
// A wrong number of dimensions is one error in a program that trains.
#include "points.hpp"
#include <redco/layer/convolutions.hpp>

#if REDCO_ACCEPT
using network = redco::sequential<redco::linear<1, 8>, redco::linear<8, 1>>;
#else  // expect: redco[L005]
using network = redco::sequential<redco::linear<1, 8>, redco::conv2d<8, 1, 3>>;
#endif

inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);

#include "train_points.hpp"
