#pragma once

#include <redco/optimizer/learning_rate.hpp>

#include <optional>

namespace redco {

/// The schedule that a description's rate follows; nothing where it has a learning_rate_at of its own.
template <class Description>
std::optional<learning_rate> schedule_of(Description const& description) {
  if constexpr (requires { description.learning_rate_at(0, 1); }) return {};
  else return learning_rate(description.lr);
}

}  // namespace redco
