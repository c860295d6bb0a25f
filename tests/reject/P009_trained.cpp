// torch
// A collate that returns nothing is one error in a program that trains.
#include "points.hpp"

using network = two_layers;

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);
#else  // expect: redco[P009]
inline auto const job =
    redco::collate([](std::span<double const> xs) { points(xs); }) | redco::loss(distance) | redco::predict(signs);
#endif

#include "train_points.hpp"
