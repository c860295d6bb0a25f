#pragma once

#include <redco/fact/path.hpp>

#include <cstdint>

namespace redco::cost {

/// Bytes that one rank holds at a moment of backward, beside what it holds throughout a step.
struct backward_moment {
  fact::path layer;              ///< whose backward it is
  std::int64_t activations = 0;  ///< saved by forward and not yet freed; outside of a block that runs again
  std::int64_t recomputed = 0;   ///< saved by the block that was run again
  std::int64_t gradients = 0;    ///< in flight

  constexpr std::int64_t bytes() const { return activations + recomputed + gradients; }

  friend constexpr bool operator==(backward_moment const&, backward_moment const&) = default;
};

}  // namespace redco::cost
