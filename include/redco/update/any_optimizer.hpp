#pragma once

#include <redco/update/segment.hpp>
#include <redco/update/update.hpp>

#include <redco/tensor/torch.hpp>
#include <redco/optimizer/groups.hpp>
#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/norm_kind.hpp>
#include <redco/optimizer/optimizer_description.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace redco::update::detail {

/// Returns the values of the parameters in segment `s` that evaluations use instead of the trained
/// ones: an average. They are undefined if the optimizer keeps none.
template <class Description>
at::Tensor evaluated(Description const& d, segment const& s) {
  at::NoGradGuard const no_grad;
  if constexpr (requires { bool(d.evaluates_average); }) return d.evaluates_average ? s.slots.back() : at::Tensor();
  else if constexpr (requires { d.evaluated_at(0.5, 0.5); }) return d.evaluated_at(s.param, s.slots[0]);
  else return {};
}

}  // namespace redco::update::detail

namespace redco::update {

/// A type-erased optimizer, so that the training code is compiled once for all optimizers.
/// Satisfies optimizer_description.
class any_optimizer {
 public:
  template <class Description>
    requires(!std::is_same_v<Description, any_optimizer> && !std::is_same_v<Description, optimizer::chosen_rule>)
  &&optimizer<Description> any_optimizer(Description const& d)
      : name(d.name),
  clip_norm(optimizer::clip_norm(d)), clip_kind(optimizer::clip_kind(d)), decay_all(optimizer::decay_all(d)),
  schedule(optimizer::schedule_of(d)), groups(optimizer::groups_of(d)), layer_decay(optimizer::layer_decay(d)),
  updates_matrices(optimizer::updates_matrices(d)), factors_matrices(optimizer::factors_matrices(d)),
  slots_(optimizer::state_slots(d)), matrix_slots_(optimizer::matrix_slots(d)),
  rate_([d](std::int64_t step, std::int64_t steps) { return optimizer::learning_rate_at(d, step, steps); }),
  update_([d](segment& s, double lr, std::int64_t step, double scale, rank_context* on) {
    update::update(d, s, lr, step, scale, on);
  }),
  evaluated_([d](segment const& s) { return detail::evaluated(d, s); }) {}

  /// Returns an optimizer of the rule in `chosen`.
  any_optimizer(optimizer::chosen_rule const& chosen);

  std::string name;
  /// Largest norm of the gradient; larger gradients are scaled down to it. 0 means no clipping.
  double clip_norm;
  /// Norm that clip_norm limits and that steps report.
  optimizer::norm_kind clip_kind;
  /// If true, weight decay also applies to norms and biases.
  bool decay_all;
  /// Learning rate schedule of the wrapped optimizer; empty if it has none.
  std::optional<optimizer::learning_rate> schedule;
  /// Groups of parameters with their own settings, and the factor of the rate per layer
  std::vector<optimizer::group> groups;
  double layer_decay;
  /// If true, each hidden matrix is updated as a whole.
  bool updates_matrices;
  /// If true, each parameter is updated as a whole, and matrices have state per row and column.
  bool factors_matrices;

  optimizer::slot_list const& slots() const { return slots_; }
  optimizer::slot_list const& matrix_slots() const { return matrix_slots_; }
  double learning_rate_at(std::int64_t step, std::int64_t run_steps) const { return rate_(step, run_steps); }

  /// Updates the parameters in segment `s` by the rule of the wrapped optimizer. See update::update
  /// for the parameters.
  void update(segment& s, double lr, std::int64_t step, double grad_scale, rank_context* on) const {
    update_(s, lr, step, grad_scale, on);
  }

  /// Returns the values of the parameters in segment `s` that evaluations use, such as an average.
  /// They are undefined if evaluations use the parameters themselves.
  at::Tensor evaluated(segment const& s) const { return evaluated_(s); }

 private:
  optimizer::slot_list slots_, matrix_slots_;
  std::function<double(std::int64_t, std::int64_t)> rate_;
  std::function<void(segment&, double, std::int64_t, double, rank_context*)> update_;
  std::function<at::Tensor(segment const&)> evaluated_;
};

inline std::optional<optimizer::learning_rate> schedule_of(any_optimizer const& optimizer) {
  return optimizer.schedule;
}

}  // namespace redco::update

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/update/any_optimizer.inl.hpp>
#endif
