// torch
// A trainer gives collate the examples that fit is given.
#include "points.hpp"

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(heights);
#else  // expect: redco[P008]
inline auto const job = redco::collate([](std::span<int const>) { return point_batch{}; }) | redco::loss(distance) |
                        redco::predict(heights);
#endif

#include "train_points.hpp"
