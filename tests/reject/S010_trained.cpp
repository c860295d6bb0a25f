// torch
// More pipeline stages than blocks are one error in a program that trains.
#include "points.hpp"
#include <redco/shard/legal.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/wrappers.hpp>

using network = redco::sequential<redco::named<"h", redco::repeat<2, redco::residual<redco::linear<1, 1>>>>>;
constexpr redco::model_of<network> model{};

#if REDCO_ACCEPT
static_assert(redco::legal<model, redco::mesh{.pp = 2}>{});
#else  // expect: redco[S010]
static_assert(redco::legal<model, redco::mesh{.pp = 65}>{});
#endif

inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);

#include "train_points.hpp"
