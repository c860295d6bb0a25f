// torch
// A trainer needs a loss function.
#include "points.hpp"

using network = two_layers;

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);
#else  // expect: redco[P006]
inline auto const job = redco::collate(points) | redco::predict(signs);
#endif

#include "train_points.hpp"
