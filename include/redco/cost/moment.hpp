#pragma once

#include <cstddef>
#include <cstdint>

namespace redco::cost {

/// A moment of a step and the bytes that one rank holds at this moment. Bytes that the rank holds
/// during the whole step, such as parameters and optimizer state, are not included.
struct moment {
  enum class phase : std::uint8_t { forward, loss, backward, update };

  phase when = phase::forward;
  int layer = -1;  ///< Index in program::layers of the layer that runs at this moment; -1: none
  /// Index of the block of an outermost repeat that runs; -1: outside repeats
  std::int64_t block = -1;

  /// Bytes of activations that forward saved and backward has not freed yet
  std::int64_t activations = 0;
  /// Bytes of activations that a recomputed block saves while backward runs it again
  std::int64_t recomputed = 0;
  /// Bytes of gradients of activations and weights that exist at this moment
  std::int64_t gradients = 0;
  std::int64_t loss = 0;  ///< Bytes of the loss's saved and temporary tensors

  constexpr std::int64_t bytes() const { return activations + recomputed + gradients + loss; }

  friend constexpr bool operator==(moment const&, moment const&) = default;
};

constexpr char const* name_of(moment::phase when) {
  constexpr char const* names[] = {"forward", "loss", "backward", "update"};
  return names[static_cast<std::size_t>(when)];
}

}  // namespace redco::cost
