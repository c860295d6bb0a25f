// torch
// Metrics need a predict, as a predictor does.
#include "points.hpp"

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(heights);
#else  // expect: redco[P006]
inline auto const job = redco::collate(points) | redco::loss(distance);
#endif

#include "train_points.hpp"
