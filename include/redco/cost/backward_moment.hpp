#pragma once

#include <redco/fact/path.hpp>

#include <cstdint>

namespace redco::cost {

/// Bytes that one rank holds at a moment of backward, in addition to the bytes that it holds during
/// the whole step.
struct backward_moment {
  fact::path layer;  ///< layer whose backward runs
  /// Activations saved by forward and not yet freed, outside of a recomputed block.
  std::int64_t activations = 0;
  std::int64_t recomputed = 0;  ///< activations saved by a recomputed block
  std::int64_t gradients = 0;   ///< gradients in flight

  constexpr std::int64_t bytes() const { return activations + recomputed + gradients; }

  friend constexpr bool operator==(backward_moment const&, backward_moment const&) = default;
};

}  // namespace redco::cost
