#pragma once

#include <redco/optimizer/learning_rate.hpp>

#include <cstdint>

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

}  // namespace redco
