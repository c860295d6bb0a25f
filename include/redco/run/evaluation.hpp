#pragma once

#include <redco/run/batch_order.hpp>
#include <redco/run/computed_batches.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/options/fit_options.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>

namespace redco::run {

/// The batch sizes of an evaluation, and the seed and step that key its random numbers.
struct evaluation_place {
  std::int64_t global_batch = 8;
  std::int64_t micro_batch = 0;
  std::uint64_t seed = 0;
  std::int64_t step = 0;
};

/// Returns the order in which this rank evaluates its share of the first `examples` examples.
batch_order evaluation_order(rank_context const& rank, std::int64_t examples, evaluation_place const& place);

/// Returns the mean loss over all batches, without dropout, equal on every rank and mesh. Terms of
/// the loss are in the result on rank 0. Values in which nothing counted are NaN. Throws `error`
/// with exit code 79 if a loss in which something counted is not finite.
metric_map evaluated_loss(rank_context& rank, computed_batches& all, evaluation_place const& place);

/// Predicts all batches and fills the predictions' slots in every process. All ranks call it.
void predict_all(rank_context& rank, computed_batches& all, evaluation_place const& place);

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/evaluation.inl.hpp>
#endif
