#pragma once

#include <cstddef>
#include <cstdint>

namespace redco::cost {

/// A moment of a step, and the bytes that one rank holds at this moment in addition to the bytes
/// held during the whole step.
struct moment {
  enum class phase : std::uint8_t { forward, loss, backward, update };

  phase when = phase::forward;
  int layer = -1;           ///< index of the layer in the program's layers; -1: none
  std::int64_t block = -1;  ///< index of the outermost block around the layer; -1: none

  std::int64_t activations = 0;  ///< activations saved by forward and not yet freed
  std::int64_t recomputed = 0;   ///< activations saved by a recomputed block
  std::int64_t gradients = 0;    ///< gradients in flight
  std::int64_t loss = 0;         ///< bytes of the loss and its workspace

  constexpr std::int64_t bytes() const { return activations + recomputed + gradients + loss; }

  friend constexpr bool operator==(moment const&, moment const&) = default;
};

constexpr char const* name_of(moment::phase when) {
  constexpr char const* names[] = {"forward", "loss", "backward", "update"};
  return names[static_cast<std::size_t>(when)];
}

}  // namespace redco::cost
