// torch
// Heads that the mesh does not divide are one error in a program that trains.
#include "points.hpp"
#include <redco/shard/legal.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/branches.hpp>

using network = redco::residual<redco::full_attention<64, 4>>;
constexpr redco::model_of<network> model{};

#if REDCO_ACCEPT
static_assert(redco::legal<model, redco::mesh{.dp = 1, .tp = 4}>{});
#else  // expect: redco[S001]
static_assert(redco::legal<model, redco::mesh{.dp = 1, .tp = 3}>{});
#endif

inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);

#include "train_points.hpp"
