// torch
// A network in predict takes a tensor of the batch, not the batch.
#include "points.hpp"

using network = two_layers;

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);
#else  // expect: redco[P010]
inline auto const job =
    redco::collate(points) | redco::loss(distance) | redco::predict([](auto const& net, point_batch const& b) {
      return std::vector<std::int64_t>(3, net(b).gt(0).sum().template item<std::int64_t>());
    });
#endif

#include "train_points.hpp"
