// torch
// What a generic loss returns is known when it is trained with.
#include "points.hpp"

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(heights);
#else  // expect: redco[P003]
inline auto const job = redco::collate(points) |
                        redco::loss([](auto const& net, point_batch const& b) { return std::vector{net(b.x)}; }) |
                        redco::predict(heights);
#endif

#include "train_points.hpp"
