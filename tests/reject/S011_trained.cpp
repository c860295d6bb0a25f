// torch
// Ranks along cp for a layer that needs whole sequences are one error in a program that trains.
#include "points.hpp"
#include <redco/shard/legal.hpp>

using network = redco::sequential<redco::linear<1, 1>>;
constexpr redco::model_of<network> model{};
constexpr redco::model_of<redco::sequential<redco::gru<1, 1>>> of_sequences{};

#if REDCO_ACCEPT
static_assert(redco::legal<model, redco::mesh{.cp = 2}>{});
#else  // expect: redco[S011]
static_assert(redco::legal<of_sequences, redco::mesh{.cp = 2}>{});
#endif

inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);

#include "train_points.hpp"
