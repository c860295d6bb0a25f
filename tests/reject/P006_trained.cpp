// torch
// A trainer needs a loss.
#include "points.hpp"

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(heights);
#else  // expect: redco[P006]
inline auto const job = redco::collate(points) | redco::predict(heights);
#endif

#include "train_points.hpp"
