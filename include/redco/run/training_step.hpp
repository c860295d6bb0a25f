#pragma once

#include <redco/comm/collective_label.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/diag/error.hpp>
#include <redco/optim/clip_factor.hpp>
#include <redco/optim/gradient_norm.hpp>
#include <redco/optim/squared_norm.hpp>
#include <redco/optim/update.hpp>
#include <redco/optimizer/clip_norm.hpp>
#include <redco/optimizer/learning_rate_at.hpp>
#include <redco/run/rank_state.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
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
  bool stop = false;     ///< some rank asked for an orderly end
  std::vector<std::pair<std::string, double>> terms;  ///< of a loss of several terms
};

/// The gradient of one optimizer step, micro-batch by micro-batch, and the update that ends it.
///
///   training_step step(state, optimizer, rank);  for (...) step.add(loss);  auto result = step.finish(...);
///
/// Each micro-batch runs backward on its sum; the global count divides the flat gradient inside the optimizer's pass. With
/// `Several` terms each is divided by its own global count before backward, which therefore needs all counts beforehand.
template <model M, class Optimizer, bool Several>
class training_step {
 public:
  training_step(rank_state<M, Optimizer>& state, Optimizer const& optimizer, rank_context& rank)
      : state_(state), optimizer_(optimizer), rank_(rank) {
    state_.store.gradients().zero_();
  }

  static constexpr bool several = Several;

  /// Errors: exit code 64, always.
  [[noreturn]] static void refuse_micro_batches() {
    throw error(exit_code::usage,
                "a loss of several terms needs its counts before backward: take one micro-batch per step (micro_batch 0)");
  }

  /// Backward of one micro-batch's loss. A loss of several terms takes one micro-batch per step.
  void add(terms const& loss) {
    if constexpr (Several) {
      add_several(loss);
    } else {
      auto const& [name, one, factor] = loss.all.front();
      totals_.resize(1, {0, 0});
      totals_[0].first += one.sum.template item<double>() * factor;
      totals_[0].second += one.count;
      (factor == 1 ? one.sum : one.sum * factor).backward();
    }
    check_storage();
  }

  /// What a rank without examples in this step calls instead.
  void add_nothing() {
    if constexpr (Several) global_counts({});
  }

  /// Sums over the ranks, clips, updates: what every rank calls, with or without examples. Errors: exit code 79 when the
  /// loss or the gradient is not finite; nothing is updated then.
  step_result finish(std::int64_t step, std::int64_t run_steps, bool stop) {
    step_result result = reduce_totals(stop);
    if (!std::isfinite(result.loss)) fail_not_finite("loss", result.loss, step);
    {
      collective_label const label("gradients");
      rank_.dp.all_reduce(state_.store.gradients());
    }
    state_.sum_shared_gradients(rank_.mp);
    double const square = squared_norm(state_.store.gradients(), state_.norm_ranges);
    result.grad_norm = gradient_norm(square, rank_.mp, divisor_);
    if (!std::isfinite(result.grad_norm)) fail_not_finite("gradient norm", result.grad_norm, step);
    result.lr = learning_rate_at(optimizer_, step, run_steps);
    double const scale = clip_factor(result.grad_norm, clip_norm(optimizer_)) / divisor_;
    for (segment& s : state_.segments)
      if (s.param.numel() > 0) update(optimizer_, s, result.lr, step + 1, scale);
    return result;
  }

 private:
  /// The counts of all terms over the replicas.
  std::vector<double> global_counts(terms const& loss) {
    if (loss.all.size() > max_terms)
      throw error(exit_code::usage, "a loss of " + std::to_string(loss.all.size()) + " terms: at most " +
                                        std::to_string(max_terms) + " are told apart; add some up");
    std::vector<double> counts(max_terms, 0);
    for (std::size_t i = 0; i < loss.all.size(); ++i) counts[i] = loss.all[i].loss.count;
    collective_label const label("loss counts");
    rank_.dp.all_reduce(at::from_blob(counts.data(), {static_cast<std::int64_t>(max_terms)}, at::kDouble));
    return counts;
  }

  /// Each term is averaged by its own global count before backward, so that their sum is the loss of one rank.
  void add_several(terms const& loss) {
    std::vector<double> const counts = global_counts(loss);
    at::Tensor total;
    for (std::size_t i = 0; i < loss.all.size(); ++i) {
      auto const& [name, one, factor] = loss.all[i];
      at::Tensor const share = one.sum * (counts[i] > 0 ? factor / counts[i] : 0.0);
      total = total.defined() ? total + share : share;
      totals_.emplace_back(one.sum.template item<double>() * factor, one.count);
      names_.emplace_back(name, factor);
    }
    total.backward();
  }

  step_result reduce_totals(bool stop) {
    std::vector<double> sums(1 + 2 * max_terms, 0);
    sums[0] = stop ? 1 : 0;
    // Every shard of a replica holds the same totals: one of them speaks.
    for (std::size_t i = 0; rank_.mp_index() == 0 && i < totals_.size(); ++i) {
      sums[1 + 2 * i] = totals_[i].first;
      sums[2 + 2 * i] = totals_[i].second;
    }
    collective_label const label("loss");
    rank_.world.all_reduce(at::from_blob(sums.data(), {static_cast<std::int64_t>(sums.size())}, at::kDouble));
    step_result result;
    result.stop = sums[0] > 0;
    for (std::size_t i = 0; i < max_terms; ++i) {
      double const count = sums[2 + 2 * i], value = count > 0 ? sums[1 + 2 * i] / count : 0;
      result.loss += value;
      result.weight = std::max(result.weight, count);
      if (i < names_.size()) result.terms.emplace_back(names_[i].first, value / names_[i].second);
    }
    divisor_ = Several || result.weight == 0 ? 1 : result.weight;
    return result;
  }

  /// backward() with a recorded graph replaces `.grad`; then the flat gradient would silently stay zero.
  void check_storage() const {
    for (at::Tensor const& leaf : state_.net->parameters()) {
      if (!leaf.requires_grad()) continue;
      if (!leaf.grad().defined() || !leaf.grad().is_alias_of(state_.store.gradients()))
        throw error(exit_code::internal,
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

  static constexpr std::size_t max_terms = 16;

  rank_state<M, Optimizer>& state_;
  Optimizer const& optimizer_;
  rank_context& rank_;
  std::vector<std::pair<double, double>> totals_;       ///< per term: sum times factor, count
  std::vector<std::pair<std::string, double>> names_;   ///< of several terms: name, factor
  double divisor_ = 1;
};

}  // namespace redco
