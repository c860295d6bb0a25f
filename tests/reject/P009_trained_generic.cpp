// torch
// The compiler knows what a generic collate returns when the trainer knows the examples.
#include "points.hpp"

using network = two_layers;

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);
#else  // expect: redco[P009]
inline auto const job = redco::collate([](auto xs) { points(xs); }) | redco::loss(distance) | redco::predict(signs);
#endif

#include "train_points.hpp"
