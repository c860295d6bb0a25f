// torch
// Two losses are one error in a program that trains.
#include "points.hpp"

using network = two_layers;

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);
#else  // expect: redco[P005]
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::loss(distance) | redco::predict(signs);
#endif

#include "train_points.hpp"
