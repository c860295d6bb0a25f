// torch
// The compiler knows what a generic predict returns when the trainer knows its network.
#include "points.hpp"

using network = two_layers;

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);
#else  // expect: redco[P004]
inline auto const job = redco::collate(points) | redco::loss(distance) |
                        redco::predict([](auto const& net, point_batch const& b) { return net(b.x).numel(); });
#endif

#include "train_points.hpp"
