#pragma once

#include <redco/run/batch_order.hpp>
#include <redco/run/computed_batches.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/options/fit_options.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>

namespace redco::run {

/// How much is evaluated at once, and at which place of the run (for keyed draws).
struct evaluation_place {
  std::int64_t global_batch = 8;
  std::int64_t micro_batch = 0;
  std::uint64_t seed = 0;
  std::int64_t step = 0;
};

/// The order in which this rank evaluates the first `examples` of some.
batch_order evaluation_order(rank_context const& rank, std::int64_t examples, evaluation_place const& place);

/// The mean loss over all batches, dropout off: the same on every rank and mesh. Terms of it are
/// given on rank 0. What nothing counted in is NaN. Errors: exit code 79 where the loss of
/// something that counted is not finite.
metric_map evaluated_loss(rank_context& rank, computed_batches& all, evaluation_place const& place);

/// Fills the predictions' slots of every process. All ranks call it.
void predict_all(rank_context& rank, computed_batches& all, evaluation_place const& place);

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/evaluation.inl.hpp>
#endif
