// torch
// A budget that is too small is one error in a program that trains.
#include "points.hpp"
#include <redco/cost/fits.hpp>
#include <redco/shape/bytes.hpp>

using network = two_layers;
constexpr redco::model_of<network> model{};

#if REDCO_ACCEPT
static_assert(redco::fits<model, redco::adamw{.lr = 1e-2}, redco::mesh{.dp = 1, .tp = 1},
                          redco::workload{.batch = 1024}, redco::shape::MiB(64)>{});
#else  // expect: redco[C001]
static_assert(redco::fits<model, redco::adamw{.lr = 1e-2}, redco::mesh{.dp = 1, .tp = 1},
                          redco::workload{.batch = 1024}, redco::shape::MiB(0)>{});
#endif

inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);

#include "train_points.hpp"
