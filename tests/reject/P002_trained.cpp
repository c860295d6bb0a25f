// torch
// A predict that takes another batch is found when the trainer knows the batch.
#include "points.hpp"

using network = two_layers;

#if REDCO_ACCEPT
inline auto const job =
    redco::collate([](auto xs) { return points(xs); }) | redco::loss(distance) | redco::predict(signs);
#else  // expect: redco[P002]
inline auto const job = redco::collate([](auto xs) { return points(xs); }) | redco::loss(distance) |
                        redco::predict([](auto const& net, image_batch const& b) { return net(b.pixels); });
#endif

#include "train_points.hpp"
