#pragma once

#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>

namespace redco {

/// Returns the learning rate of step `step` (from 0) in a run of `run_steps` steps. Uses the
/// description's own learning_rate_at(step, run_steps) if it has one, else its `lr` (a number or a
/// schedule).
template <class Description>
double learning_rate_at(Description const& description, std::int64_t step, std::int64_t run_steps) requires(
    requires { description.learning_rate_at(step, run_steps); } || requires { learning_rate(description.lr); }) {
  if constexpr (requires { description.learning_rate_at(step, run_steps); })
    return description.learning_rate_at(step, run_steps);
  else return learning_rate(description.lr).at(step, run_steps);
}

/// Returns the global norm to which an optimizer scales larger gradients down; 0 (no clipping) if
/// the description has no clip_norm.
template <class Description>
constexpr double clip_norm(Description const& description) {
  if constexpr (requires { double(description.clip_norm); }) return description.clip_norm;
  else return 0;
}

/// Returns true if an optimizer decays norms and biases too; false if the description has no
/// decay_all.
template <class Description>
constexpr bool decay_all(Description const& description) {
  if constexpr (requires { bool(description.decay_all); }) return description.decay_all;
  else return false;
}

/// Satisfied by an optimizer's settings: a static `name`, a learning rate (`lr` or
/// learning_rate_at()), and the names of its state slots. Optional: clip_norm, decay_all. update/
/// has the update rules; a user's own type brings its rule as
///   void update(redco::update::segment&, double lr, std::int64_t step) const;
template <class D>
concept optimizer_description = std::copyable<D> && requires(D const& d) {
  { D::name } -> std::convertible_to<std::string_view>;
  learning_rate_at(d, 0, 1);
  state_slots(d);
};

}  // namespace redco
