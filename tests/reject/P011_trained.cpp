// torch
// Layers know a mask by its type, so a plain tensor cannot follow the input.
#include "points.hpp"

using network = two_layers;

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);
#else  // expect: redco[P011]
inline auto const job =
    redco::collate(points) |
    redco::loss([](auto const& net, point_batch const& b) { return (net(b.x, b.x > 0) - b.y).square().mean(); }) |
    redco::predict(signs);
#endif

#include "train_points.hpp"
