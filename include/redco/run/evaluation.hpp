#pragma once

#include <redco/run/fit_job.hpp>
#include <redco/nn/network_base.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/options/fit_options.hpp>

#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>

namespace redco::run {

/// The batch sizes of an evaluation, and the seed and step from which its random numbers are drawn.
struct evaluation_settings {
  std::int64_t global_batch = 8;
  std::int64_t micro_batch = 0;
  std::uint64_t seed = 0;
  std::int64_t step = 0;
  /// Function that all ranks call before each global batch; returns true on all ranks if a signal
  /// ends the run. Empty for an evaluation that no signal ends.
  std::function<bool()> stops = {};
};

/// An exception that all ranks throw if evaluation_settings::stops returns true.
struct evaluation_stopped {};

/// Returns the order in which this rank evaluates its share of the first `examples` evaluation
/// examples, with the settings for collating them.
inline batch_order evaluation_order(rank_context const& rank, std::int64_t examples,
                                    evaluation_settings const& settings) {
  data::sampler const order(examples, 0, false);
  int const replicas = rank.mesh.size(shape::batch_axes);
  std::int64_t const at_once = std::max<std::int64_t>(settings.global_batch, replicas);
  data::batches const all(order, {at_once, settings.micro_batch, replicas, rank.coordinate(shape::batch_axes)});
  return {order, all, 0, {settings.seed, 0}};
}

/// Returns the mean loss over all batches, computed without dropout; equal on every rank and mesh.
/// On rank 0, the result also has each term of the loss. A value is NaN if no token or example
/// counted in it (all labels masked). Throws `error` with exit code 79 if any other value is not
/// finite.
options::metric_map evaluated_loss(rank_context& rank, nn::network_base const& network, computed_batches& all,
                                   evaluation_settings const& settings);

/// Predicts all batches and stores the predictions by example index in every process. All ranks
/// call it.
void predict_all(rank_context& rank, nn::network_base const& network, computed_batches& all,
                 evaluation_settings const& settings);

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/evaluation.inl.hpp>
#endif
