#pragma once

#include <redco/fact/path.hpp>
#include <redco/shape/bytes.hpp>
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
  /// Bytes of values that the rank has gathered from the other replicas (ZeRO 3)
  std::int64_t gathered = 0;

  constexpr std::int64_t bytes() const { return activations + recomputed + gradients + loss + gathered; }

  friend constexpr bool operator==(moment const&, moment const&) = default;
};

inline constexpr auto phase_texts = meta::enum_texts<moment::phase>({
    {moment::phase::forward, "forward"},
    {moment::phase::loss, "loss"},
    {moment::phase::backward, "backward"},
    {moment::phase::update, "update"},
});

constexpr std::string_view name_of(moment::phase when) { return phase_texts.text_of(when); }

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
  /// Bytes of tensors that the pipeline stage has sent and whose arrival no message has shown
  std::int64_t transfers = 0;
  /// Bytes of values that the rank has gathered from the other replicas (ZeRO 3)
  std::int64_t gathered = 0;

  constexpr std::int64_t bytes() const { return activations + recomputed + gradients + transfers + gathered; }

  friend constexpr bool operator==(backward_moment const&, backward_moment const&) = default;
};

/// The bytes of tensors that one rank holds. Members up to `batches` are held during the whole run,
/// the other members during phases of a step.
struct memory {
  std::int64_t parameters = 0;  ///< Bytes of parameters in the compute dtype
  /// Bytes of the f32 copies of parameters that the optimizer updates (masters); 0 if parameters
  /// are f32 or f64.
  std::int64_t masters = 0;
  std::int64_t gradients = 0;
  std::int64_t optimizer = 0;  ///< Bytes of the optimizer's state
  std::int64_t batches = 0;    ///< Bytes of the current batch and of the batches prepared ahead

  /// Bytes of activations that forward saves for backward. Recomputed blocks save only their
  /// inputs. A pipeline stage holds them for each micro-batch in flight.
  std::int64_t activations = 0;
  /// Bytes of tensors that a pipeline stage has sent and whose arrival no message has shown, when
  /// forward of a micro-batch ends
  std::int64_t transfers = 0;
  /// Bytes of gradients that the loss computes in forward and saves for backward. A pipeline stage
  /// holds them for each micro-batch in flight.
  std::int64_t loss = 0;
  /// Bytes of the loss's temporary tensors, such as the logits of one chunk of rows
  std::int64_t loss_workspace = 0;
  /// Bytes of values that a rank has gathered from the other replicas while it computes the loss:
  /// of layers outside blocks, of the last block, and of kept blocks. 0 unless a rank keeps only a
  /// share of the values (ZeRO 3).
  std::int64_t gathered = 0;
  /// Bytes of the temporary tensor with which replicas sum or gather their shares at the update,
  /// and of values that a pipeline stage has gathered then. 0 with ZeRO 3 without stages.
  std::int64_t shares_workspace = 0;
  /// Bytes of the buckets of gradients that wait for their sum over the replicas during backward,
  /// and of the sum of one bucket (ZeRO 2). With ZeRO 3, the moments of backward have the buckets
  /// of their block.
  std::int64_t gradient_buckets = 0;
  backward_moment backward;  ///< Moment of backward at which the rank holds the most bytes

  constexpr std::int64_t persistent() const { return parameters + masters + gradients + optimizer + batches; }
  /// Returns the largest number of bytes that the rank holds while the loss is computed. Each other
  /// function at_*() returns this number for another phase of a step.
  constexpr std::int64_t at_loss() const {
    return persistent() + activations + transfers + loss + loss_workspace + gathered;
  }
  constexpr std::int64_t at_backward() const { return persistent() + backward.bytes() + gradient_buckets; }
  constexpr std::int64_t at_update() const { return persistent() + shares_workspace; }
  /// Returns the largest number of bytes that the rank holds while a checkpoint is saved. Saving
  /// needs no extra memory, because each shard is written to the file from its buffer.
  constexpr std::int64_t at_saving() const { return persistent(); }
  /// Returns the largest number of bytes that the rank holds at any time of a step.
  constexpr std::int64_t peak() const { return shape::largest({at_loss(), at_backward(), at_update(), at_saving()}); }

  friend constexpr bool operator==(memory const&, memory const&) = default;
};

}  // namespace redco::cost
