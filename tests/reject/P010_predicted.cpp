// torch
// So in predict.
#include "points.hpp"

using network = two_layers;

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);
#else  // expect: redco[P010]
inline auto const job =
    redco::collate(points) | redco::loss(distance) |
    redco::predict([](auto const& net, point_batch const& b) { return net(b).squeeze(1).unbind(); });
#endif

#include "train_points.hpp"
