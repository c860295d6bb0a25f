// torch
// A loss that takes another batch than a generic collate returns is one error in a program that
// trains.
#include "points.hpp"

using network = two_layers;
#if REDCO_ACCEPT
inline auto const job =
    redco::collate([](auto xs) { return points(xs); }) | redco::loss(distance) | redco::predict(signs);
#else  // expect: redco[P001]
inline auto const job =
    redco::collate([](auto) { return image_batch{}; }) | redco::loss(distance) | redco::predict(signs);
#endif

#include "train_points.hpp"
