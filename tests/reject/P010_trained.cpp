// torch
// A network in loss takes a tensor of the batch, not the batch.
#include "points.hpp"

using network = two_layers;

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);
#else  // expect: redco[P010]
inline auto const job =
    redco::collate(points) |
    redco::loss([](auto const& net, point_batch const& b) { return (net(b) - b.y).square().mean(); }) |
    redco::predict(signs);
#endif

#include "train_points.hpp"
