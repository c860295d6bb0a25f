#pragma once

#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/norm_kind.hpp>
#include <redco/optimizer/state_slots.hpp>
#include <redco/diag/error.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redco::optimizer {

/// Returns an optimizer's learning rate at step `step` (from 0) of a training run of `run_steps`
/// steps. Calls description.learning_rate_at(step, run_steps) if this member exists. Otherwise
/// evaluates the member `lr`, a number or a schedule.
template <class Description>
double learning_rate_at(Description const& description, std::int64_t step, std::int64_t run_steps) requires(
    requires { description.learning_rate_at(step, run_steps); } || requires { learning_rate(description.lr); }) {
  if constexpr (requires { description.learning_rate_at(step, run_steps); })
    return description.learning_rate_at(step, run_steps);
  else return learning_rate(description.lr).at(step, run_steps);
}

/// Returns the maximum global norm of the gradients, to which larger gradients are scaled down.
/// Returns 0 (no clipping) if the optimizer's settings have no member `clip_norm`.
template <class Description>
constexpr double clip_norm(Description const& description) {
  if constexpr (requires { double(description.clip_norm); }) return description.clip_norm;
  else return 0;
}

/// Returns the norm that clip_norm() limits. Returns l2 if the optimizer's settings have no member
/// `clip_kind`.
template <class Description>
constexpr norm_kind clip_kind(Description const& description) {
  if constexpr (requires { norm_kind(description.clip_kind); }) return description.clip_kind;
  else return norm_kind::l2;
}

/// Returns true if the optimizer applies weight decay to norms and biases too. Returns false if the
/// optimizer's settings have no member `decay_all`.
template <class Description>
constexpr bool decay_all(Description const& description) {
  if constexpr (requires { bool(description.decay_all); }) return description.decay_all;
  else return false;
}

/// A type of optimizer settings: a static `name`, a learning rate (`lr` or learning_rate_at()), and
/// the names of the state slots. The members `clip_norm`, `clip_kind` and `decay_all` are optional.
/// The room update/ has the update rules of redco's optimizers. A user's own type has its rule as a
/// member:
///   void update(redco::update::segment&, double lr, std::int64_t step) const;
template <class D>
concept optimizer_description = std::copyable<D> && requires(D const& d) {
  { D::name } -> std::convertible_to<std::string_view>;
  learning_rate_at(d, 0, 1);
  state_slots(d);
};

/// Returns the learning-rate schedule of an optimizer's settings, or nullopt if the settings
/// compute the rate in their member learning_rate_at().
template <class Description>
std::optional<learning_rate> schedule_of(Description const& description) {
  if constexpr (requires { description.learning_rate_at(0, 1); }) return {};
  else return learning_rate(description.lr);
}

/// Checks the learning rates and clip_norm of an optimizer before the first step. Throws `error`
/// with exit code 64 if one of them is negative or not finite.
template <class Description>
void check_rates(Description const& description) {
  auto const check = [](char const* name, double value) {
    if (!(value >= 0 && std::isfinite(value)))
      throw error(exit_code::usage,
                  std::string(name) + " is " + std::to_string(value) + ": give a finite number from 0 on");
  };
  check("clip_norm", clip_norm(description));
  if (std::optional<learning_rate> const lr = schedule_of(description))
    for (double const rate : {lr->peak, lr->start, lr->floor}) check("the learning rate", rate);
}

}  // namespace redco::optimizer
