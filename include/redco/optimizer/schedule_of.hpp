#pragma once

#include <redco/optimizer/learning_rate.hpp>

#include <optional>

namespace redco::optimizer {

/// Returns the learning-rate schedule of an optimizer's settings, or nullopt if the settings
/// compute the rate in their member learning_rate_at().
template <class Description>
std::optional<learning_rate> schedule_of(Description const& description) {
  if constexpr (requires { description.learning_rate_at(0, 1); }) return {};
  else return learning_rate(description.lr);
}

}  // namespace redco::optimizer
