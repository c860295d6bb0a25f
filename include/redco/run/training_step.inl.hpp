#pragma once

#include <redco/run/training_step.hpp>

#include <redco/nn/gradient_watch.hpp>
#include <redco/update/clip_factor.hpp>
#include <redco/update/gradient_norm.hpp>
#include <redco/update/squared_norm.hpp>
#include <redco/comm/collective_label.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/config.hpp>

#include <cmath>
#include <cstddef>

namespace redco::run::detail {

[[noreturn]] inline void fail_not_finite(char const* what, double value, std::int64_t step) {
  throw error(exit_code::not_finite, "step " + std::to_string(step + 1) + ": the " + what + " is " +
                                         (std::isnan(value) ? "NaN" : "infinite") +
                                         "; nothing was updated or saved. Lower the learning rate, clip gradients "
                                         "(clip_norm) or look at this step's examples");
}

}  // namespace redco::run::detail

namespace redco {

REDCO_INLINE training_step::training_step(run::network_state& state, rank_context& rank, bool several,
                                          std::int64_t bucket)
    : state_(state), rank_(rank), several_(several) {
  state_.store.gradients().zero_();
  if (bucket > 0) buckets_.emplace(state_.network(), rank_, bucket);
}

REDCO_INLINE void training_step::refuse_micro_batches() {
  throw error(
      exit_code::usage,
      "a loss of several terms needs its counts before backward: take one micro-batch per step (micro_batch 0)");
}

REDCO_INLINE void training_step::differentiate(terms const& loss) {
  if (several_) {
    add_several(loss);
  } else {
    if (loss.all.size() != 1)
      throw error(exit_code::usage, "a step of one's own adds a loss of " + std::to_string(loss.all.size()) +
                                        " terms, but the pipeline's loss has one: let it return redco::terms too");
    auto const& [name, only, factor] = loss.all.front();
    backward(factor == 1 ? only.sum : only.sum * factor);
  }
  check_storage();
}

REDCO_INLINE void training_step::add_nothing() {
  if (several_) global_counts({});
}

REDCO_INLINE step_result training_step::finish(std::int64_t step, std::int64_t run_steps, bool stop) {
  update::any_optimizer const& optimizer = state_.optimizer;
  step_result result;
  if (buckets_) buckets_->send_all();
  result.stop = totals_.reduce(rank_, stop);
  if (buckets_) buckets_->wait();
  result.loss = totals_.loss();
  result.weight = totals_.weight();
  if (several_) result.terms = totals_.by_name();
  bool const counted = result.weight > 0;
  if (counted && !std::isfinite(result.loss)) run::detail::fail_not_finite("loss", result.loss, step);
  if (!buckets_) sum_gradients();
  result.lr = optimizer.learning_rate_at(step, run_steps);
  if (!(result.lr >= 0 && std::isfinite(result.lr)))
    throw error(exit_code::usage, "step " + std::to_string(step + 1) + ": the schedule gives the learning rate " +
                                      std::to_string(result.lr) + ": give a finite number from 0 on");
  if (!counted) return result;
  double const divisor = several_ ? 1 : result.weight;
  double const square = update::squared_norm(state_.store.gradients(), state_.norm_ranges);
  result.grad_norm = update::gradient_norm(square, rank_.group(model_axes), divisor);
  if (!std::isfinite(result.grad_norm)) run::detail::fail_not_finite("gradient norm", result.grad_norm, step);
  if (watch_ != nullptr) watch_->reduced(state_, divisor);
  ++state_.updates;
  double const scale = update::clip_factor(result.grad_norm, optimizer.clip_norm) / divisor;
  for (update::segment& s : state_.segments)
    if (s.param.numel() > 0) optimizer.update(s, result.lr, state_.updates, scale);
  if (watch_ != nullptr) watch_->updated(state_);
  return result;
}

REDCO_INLINE void training_step::sum_gradients() {
  comm::collective_label const label("gradients");
  for (shard::region const& one : state_.store.regions().sums())
    rank_.group(one.summed_over).all_reduce(state_.store.gradients().narrow(0, one.begin, one.size()));
}

/// Others may watch how the gradients end; then they are sent behind backward.
REDCO_INLINE void training_step::backward(at::Tensor const& loss) {
  if (!loss.requires_grad())
    throw error(
        exit_code::internal,
        "the loss has no gradient: no trained parameter has a part in it, or it was detached (item(), detach(), "
        "NoGradGuard, whole-number types); compute it from what the network returns");
  std::optional<gradient_watch> watch;
  if (buckets_ && last_ && !gradient_watch::on(state_.network()))
    watch.emplace(state_.network(), [this](parameter which) { buckets_->end(which); });
  loss.backward();
}

/// The counts of all terms over the replicas.
REDCO_INLINE std::vector<double> training_step::global_counts(terms const& loss) {
  std::vector<double> counts(run::loss_totals::most_terms, 0);
  for (std::size_t i = 0; i < loss.all.size(); ++i) counts[i] = loss.all[i].loss.count;
  comm::collective_label const label("loss counts");
  at::Tensor const sums =
      comm::replica_round{&rank_.group(batch_axes), round_.gaps}.sum(at::tensor(counts, at::kDouble));
  return {sums.const_data_ptr<double>(), sums.const_data_ptr<double>() + sums.numel()};
}

/// Each term is averaged by its own global count before backward, so that their sum is the loss of one rank.
REDCO_INLINE void training_step::add_several(terms const& loss) {
  std::vector<double> const counts = global_counts(loss);
  at::Tensor total;
  for (std::size_t i = 0; i < loss.all.size(); ++i) {
    auto const& [name, one, factor] = loss.all[i];
    if (counts[i] == 0) continue;
    at::Tensor const share = one.sum * (factor / counts[i]);
    total = total.defined() ? total + share : share;
  }
  if (total.defined()) backward(total);
}

/// backward() with a recorded graph replaces `.grad`; then the flat gradient would silently stay zero.
REDCO_INLINE void training_step::check_storage() const {
  for (at::Tensor const& leaf : state_.network().parameters()) {
    if (!leaf.requires_grad()) continue;
    if (!leaf.grad().defined() || !leaf.grad().is_alias_of(state_.store.gradients()))
      throw error(exit_code::internal,
                  "a parameter's gradient no longer lies in the flat buffer: in loss functions use autograd::grad with "
                  "create_graph, never backward");
  }
}

}  // namespace redco
