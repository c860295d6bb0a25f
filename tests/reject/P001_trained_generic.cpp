// torch
// The compiler finds the wrong loss when the trainer knows the batch of a generic collate; it stays
// one error.
#include "points.hpp"

using network = two_layers;

#if REDCO_ACCEPT
inline auto const job =
    redco::collate([](auto xs) { return points(xs); }) | redco::loss(distance) | redco::predict(signs);
#else  // expect: redco[P001]
inline auto const job = redco::collate([](auto xs) { return points(xs); }) |
                        redco::loss([](auto const& net, image_batch const& b) { return net(b.pixels); }) |
                        redco::predict(signs);
#endif

#include "train_points.hpp"
