#pragma once

#include <redco/fact/path.hpp>

#include <cstdint>

namespace redco::cost {

/// A moment of backward and the bytes that one rank holds at this moment. Bytes that the rank holds
/// during the whole step, such as parameters and optimizer state, are not included.
struct backward_moment {
  fact::path layer;  ///< Path of the layer whose backward runs
  /// Bytes of activations that forward saved and backward has not freed yet, except activations
  /// that a recomputed block saves again.
  std::int64_t activations = 0;
  /// Bytes of activations that the recomputed block saves while backward runs it again
  std::int64_t recomputed = 0;
  /// Bytes of gradients of activations and weights that exist at this moment
  std::int64_t gradients = 0;

  constexpr std::int64_t bytes() const { return activations + recomputed + gradients; }

  friend constexpr bool operator==(backward_moment const&, backward_moment const&) = default;
};

}  // namespace redco::cost
