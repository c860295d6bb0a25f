#pragma once

#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>

namespace redco {

/// The learning rate of step `step`, counted from 0, in a run of `run_steps` steps: what the description's own
/// learning_rate_at(step, run_steps) says, else what its `lr` (a number or a schedule) gives.
template <class Description>
double learning_rate_at(Description const& description, std::int64_t step, std::int64_t run_steps) requires(
    requires { description.learning_rate_at(step, run_steps); } || requires { learning_rate(description.lr); }) {
  if constexpr (requires { description.learning_rate_at(step, run_steps); })
    return description.learning_rate_at(step, run_steps);
  else return learning_rate(description.lr).at(step, run_steps);
}

/// The global gradient norm above which a description scales gradients down; 0: never, and where it names none.
template <class Description>
constexpr double clip_norm(Description const& description) {
  if constexpr (requires { double(description.clip_norm); }) return description.clip_norm;
  else return 0;
}

/// Whether a description decays norms and biases too; a description that does not say so does not.
template <class Description>
constexpr bool decay_all(Description const& description) {
  if constexpr (requires { bool(description.decay_all); }) return description.decay_all;
  else return false;
}

/// What can stand where an optimizer is asked for: a static `name`, a learning rate (`lr`, or learning_rate_at()) and
/// the names of its state slots. Optional: clip_norm, decay_all. Updating is the matter of update/; a user's own type
/// brings
///   void update(redco::segment&, double lr, std::int64_t step) const;
template <class D>
concept optimizer_description = std::copyable<D> && requires(D const& d) {
  { D::name } -> std::convertible_to<std::string_view>;
  learning_rate_at(d, 0, 1);
  state_slots(d);
};

}  // namespace redco
