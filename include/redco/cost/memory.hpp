#pragma once

#include <redco/cost/backward_moment.hpp>

#include <redco/shape/largest.hpp>

#include <cstdint>

namespace redco::cost {

/// Bytes of tensors that one rank holds. The first group lives from start to end; the others belong to phases of a step.
struct memory {
  std::int64_t parameters = 0;  ///< in the compute dtype
  std::int64_t masters = 0;     ///< f32 copies that the optimizer updates; 0 where parameters are f32 or f64
  std::int64_t gradients = 0;
  std::int64_t optimizer = 0;  ///< state slots
  std::int64_t batches = 0;    ///< the batch that is computed and those prepared ahead

  std::int64_t activations = 0;     ///< what forward saves for backward, of blocks that run again their inputs
  std::int64_t loss = 0;            ///< gradients that the loss makes in forward and saves for backward
  std::int64_t loss_workspace = 0;  ///< logits of one chunk of rows and the like
  backward_moment backward;         ///< the moment of backward that holds most

  constexpr std::int64_t persistent() const { return parameters + masters + gradients + optimizer + batches; }
  /// The most in each phase of a step.
  constexpr std::int64_t at_loss() const { return persistent() + activations + loss + loss_workspace; }
  constexpr std::int64_t at_backward() const { return persistent() + backward.bytes(); }
  constexpr std::int64_t at_update() const { return persistent(); }
  /// While a checkpoint is saved: every part is written from where it lies.
  constexpr std::int64_t at_saving() const { return persistent(); }
  /// The most at any moment of a step.
  constexpr std::int64_t peak() const { return largest({at_loss(), at_backward(), at_update(), at_saving()}); }

  friend constexpr bool operator==(memory const&, memory const&) = default;
};

}  // namespace redco::cost
