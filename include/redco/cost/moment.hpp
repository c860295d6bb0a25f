#pragma once

#include <redco/meta/enum_texts.hpp>

#include <cstdint>
#include <string_view>

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

inline constexpr auto phase_texts = meta::enum_texts<moment::phase>({
    {moment::phase::forward, "forward"},
    {moment::phase::loss, "loss"},
    {moment::phase::backward, "backward"},
    {moment::phase::update, "update"},
});

constexpr std::string_view name_of(moment::phase when) { return phase_texts.text_of(when); }

}  // namespace redco::cost
