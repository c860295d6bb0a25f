// torch
// An override that matches nothing is one error in a program that trains.
#include "points.hpp"
#include <redco/shard/keep_replicated.hpp>

#if REDCO_ACCEPT
using network = redco::shard::keep_replicated<two_layers, "0">;
#else  // expect: redco[S009]
using network = redco::shard::keep_replicated<two_layers, "up">;
#endif
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);

#include "train_points.hpp"
