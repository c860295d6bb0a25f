#pragma once

#include <redco/run/loss_totals.hpp>
#include <redco/run/rank_state.hpp>
#include <redco/update/clip_factor.hpp>
#include <redco/update/gradient_norm.hpp>
#include <redco/update/squared_norm.hpp>
#include <redco/update/update.hpp>
#include <redco/comm/collective_label.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/comm/replica_round.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/optimizer/optimizer_description.hpp>
#include <redco/diag/error.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace redco {

/// What a step gave, equal on all ranks.
struct step_result {
  double loss = 0;       ///< mean over everything that counted in the global batch
  double weight = 0;     ///< how much counted: tokens or examples
  double grad_norm = 0;  ///< of the mean gradient, before clipping
  double lr = 0;
  bool stop = false;                                  ///< some rank asked for an orderly end
  std::vector<std::pair<std::string, double>> terms;  ///< of a loss of several terms
};

/// The gradient of one optimizer step, micro-batch by micro-batch, and the update that ends it.
///
///   training_step step(state, optimizer, rank);  for (...) step.add(loss);  auto result = step.finish(...);
///
/// Each micro-batch runs backward on its sum; the global count divides the flat gradient inside the optimizer's pass.
/// With `Several` terms each is divided by its own global count before backward, which therefore needs all counts
/// beforehand.
template <model M, class Optimizer, bool Several>
class training_step {
 public:
  training_step(run::rank_state<M, Optimizer>& state, Optimizer const& optimizer, rank_context& rank)
      : state_(state), optimizer_(optimizer), rank_(rank) {
    state_.store.gradients().zero_();
  }

  static constexpr bool several = Several;

  /// Errors: exit code 64, always.
  [[noreturn]] static void refuse_micro_batches() {
    throw error(
        exit_code::usage,
        "a loss of several terms needs its counts before backward: take one micro-batch per step (micro_batch 0)");
  }

  /// Backward of one micro-batch's loss. A loss of several terms takes one micro-batch per step. Errors: exit code 70 for a
  /// loss that no trained parameter has a part in.
  void add(terms const& loss) {
    totals_.add(loss);
    if constexpr (Several) {
      add_several(loss);
    } else {
      backward(loss.all.front().loss.sum);
    }
    check_storage();
  }
  void add(mean const& loss) requires(!Several) { add(terms{{{"loss", loss, 1}}}); }

  /// The round of micro-batches that is added next.
  void meet(comm::replica_round const& round) { round_ = round; }

  /// What a rank without examples in this step calls instead, unless it sits a round out.
  void add_nothing() {
    if constexpr (Several) global_counts({});
  }

  /// Sums over the ranks, clips, updates: what every rank calls, with or without examples. Errors: exit code 79 when
  /// the loss or the gradient is not finite, 64 when the learning rate is none; nothing is updated then.
  step_result finish(std::int64_t step, std::int64_t run_steps, bool stop) {
    step_result result;
    result.stop = totals_.reduce(rank_, stop);
    result.loss = totals_.loss();
    result.weight = totals_.weight();
    if (Several) result.terms = totals_.by_name();
    if (!std::isfinite(result.loss)) fail_not_finite("loss", result.loss, step);
    {
      comm::collective_label const label("gradients");
      rank_.group(example_axes).all_reduce(state_.store.gradients());
    }
    double const divisor = Several || result.weight == 0 ? 1 : result.weight;
    double const square = update::squared_norm(state_.store.gradients(), state_.norm_ranges);
    result.grad_norm = update::gradient_norm(square, rank_.group(model_axes), divisor);
    if (!std::isfinite(result.grad_norm)) fail_not_finite("gradient norm", result.grad_norm, step);
    result.lr = learning_rate_at(optimizer_, step, run_steps);
    if (!(result.lr >= 0 && std::isfinite(result.lr)))
      throw error(exit_code::usage, "step " + std::to_string(step + 1) + ": the schedule gives the learning rate " +
                                        std::to_string(result.lr) + ": give a finite number from 0 on");
    double const scale = update::clip_factor(result.grad_norm, clip_norm(optimizer_)) / divisor;
    for (update::segment& s : state_.segments)
      if (s.param.numel() > 0) update::update(optimizer_, s, result.lr, step + 1, scale);
    return result;
  }

 private:
  /// The counts of all terms over the replicas.
  std::vector<double> global_counts(terms const& loss) {
    std::vector<double> counts(run::loss_totals::most_terms, 0);
    for (std::size_t i = 0; i < loss.all.size(); ++i) counts[i] = loss.all[i].loss.count;
    comm::collective_label const label("loss counts");
    at::Tensor const sums =
        comm::replica_round{&rank_.group(example_axes), round_.gaps}.sum(at::tensor(counts, at::kDouble));
    return {sums.const_data_ptr<double>(), sums.const_data_ptr<double>() + sums.numel()};
  }

  /// Each term is averaged by its own global count before backward, so that their sum is the loss of one rank.
  void add_several(terms const& loss) {
    std::vector<double> const counts = global_counts(loss);
    at::Tensor total;
    for (std::size_t i = 0; i < loss.all.size(); ++i) {
      auto const& [name, one, factor] = loss.all[i];
      at::Tensor const share = one.sum * (counts[i] > 0 ? factor / counts[i] : 0.0);
      total = total.defined() ? total + share : share;
    }
    backward(total);
  }

  static void backward(at::Tensor const& loss) {
    if (!loss.requires_grad())
      throw error(
          exit_code::internal,
          "the loss has no gradient: no trained parameter has a part in it, or it was detached (item(), detach(), "
          "NoGradGuard, whole-number types); compute it from what the network returns");
    loss.backward();
  }

  /// backward() with a recorded graph replaces `.grad`; then the flat gradient would silently stay zero.
  void check_storage() const {
    for (at::Tensor const& leaf : state_.net->parameters()) {
      if (!leaf.requires_grad()) continue;
      if (!leaf.grad().defined() || !leaf.grad().is_alias_of(state_.store.gradients()))
        throw error(
            exit_code::internal,
            "a parameter's gradient no longer lies in the flat buffer: in loss functions use autograd::grad with "
            "create_graph, never backward");
    }
  }

  [[noreturn]] void fail_not_finite(char const* what, double value, std::int64_t step) const {
    throw error(exit_code::not_finite, "step " + std::to_string(step + 1) + ": the " + what + " is " +
                                           (std::isnan(value) ? "NaN" : "infinite") +
                                           "; nothing was updated or saved. Lower the learning rate, clip gradients "
                                           "(clip_norm) or look at this step's examples");
  }

  run::rank_state<M, Optimizer>& state_;
  Optimizer const& optimizer_;
  rank_context& rank_;
  run::loss_totals totals_;
  comm::replica_round round_;
};

}  // namespace redco
