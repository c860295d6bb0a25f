// torch
// A loss that takes another batch is one error in a program that also trains and predicts.
#include "points.hpp"

using network = two_layers;

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);
#else  // expect: redco[P001]
inline auto const job = redco::collate(points) |
                        redco::loss([](auto const& net, image_batch const& b) { return net(b.pixels); }) |
                        redco::predict(signs);
#endif

#include "train_points.hpp"
