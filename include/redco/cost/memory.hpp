#pragma once

#include <redco/cost/backward_moment.hpp>

#include <redco/shape/largest.hpp>

#include <cstdint>

namespace redco::cost {

/// Bytes of tensors that one rank holds. The first group is held during the whole run, the second
/// group during phases of a step.
struct memory {
  std::int64_t parameters = 0;  ///< parameters in the compute type
  /// F32 copies that the optimizer updates; 0 if parameters are f32 or f64
  std::int64_t masters = 0;
  std::int64_t gradients = 0;
  std::int64_t optimizer = 0;  ///< optimizer state
  std::int64_t batches = 0;    ///< current batch and the batches prepared ahead

  /// Activations that forward saves for backward; of recomputed blocks only the inputs.
  std::int64_t activations = 0;
  std::int64_t loss = 0;  ///< gradients that the loss computes in forward and saves for backward
  /// Logits of one chunk of rows, and other temporary tensors of the loss
  std::int64_t loss_workspace = 0;
  backward_moment backward;  ///< moment of backward with the most bytes

  constexpr std::int64_t persistent() const { return parameters + masters + gradients + optimizer + batches; }
  /// Returns the peak bytes during the loss. The functions at_* return the peak bytes of one phase
  /// of a step.
  constexpr std::int64_t at_loss() const { return persistent() + activations + loss + loss_workspace; }
  constexpr std::int64_t at_backward() const { return persistent() + backward.bytes(); }
  constexpr std::int64_t at_update() const { return persistent(); }
  /// Returns the peak bytes while a checkpoint is saved. Saving needs no extra memory, because each
  /// part is written in place.
  constexpr std::int64_t at_saving() const { return persistent(); }
  /// Returns the peak bytes of a step.
  constexpr std::int64_t peak() const { return largest({at_loss(), at_backward(), at_update(), at_saving()}); }

  friend constexpr bool operator==(memory const&, memory const&) = default;
};

}  // namespace redco::cost
