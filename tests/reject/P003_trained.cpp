// torch
// The compiler knows what a generic loss returns when a trainer uses it.
#include "points.hpp"

using network = two_layers;

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);
#else  // expect: redco[P003]
inline auto const job = redco::collate(points) |
                        redco::loss([](auto const& net, point_batch const& b) { return std::vector{net(b.x)}; }) |
                        redco::predict(signs);
#endif

#include "train_points.hpp"
