// torch
// A predictor needs a predict.
#include "points.hpp"

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(heights);
#else  // expect: redco[P006]
inline auto const job = redco::collate(points) | redco::loss(distance);
#endif

#include "train_points.hpp"
