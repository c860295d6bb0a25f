// torch
// A function that changes what it captures is one error in a program that trains.
#include "points.hpp"

using network = two_layers;

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);
#else  // expect: redco[P007]
inline auto const job =
    redco::collate(points) |
    redco::loss([n = 0](redco::bound_network<redco::model_of<two_layers> > const& net, point_batch const& b) mutable {
      return ++n * (net(b.x) - b.y).square().mean();
    }) |
    redco::predict(signs);
#endif

#include "train_points.hpp"
