// torch
// A trainer passes the examples of fit to collate.
#include "points.hpp"

using network = two_layers;

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);
#else  // expect: redco[P008]
inline auto const job =
    redco::collate([](std::span<int const>) { return point_batch{}; }) | redco::loss(distance) | redco::predict(signs);
#endif

#include "train_points.hpp"
