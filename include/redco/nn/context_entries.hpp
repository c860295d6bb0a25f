#pragma once

#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/layout.hpp>

namespace redco {

/// A context entry with the encoder's input of an encoder-decoder: token ids [B, S].
struct encoder_input {
  at::Tensor value;
};

/// A context entry with the encoder's result [B, S, width], which cross-attention reads.
struct encoder_states {
  tensor<replicated> value;
};

/// A context entry with the mask of visible keys, bool [B, S]: true for a real position, false for
/// padding.
struct key_mask {
  at::Tensor value;
};

/// A context entry with the mask of visible encoder positions, bool [B, S], for cross-attention and
/// for the encoder's own attention.
struct encoder_mask {
  at::Tensor value;
};

/// A context entry with the segment of each token (first or second sentence), int64 [B, T]; 0
/// everywhere if not set.
struct token_type_ids {
  at::Tensor value;
};

/// A context entry with the bias that a `with_distance_bias` adds to attention scores: [heads of
/// this rank, 2 T - 1], indexed by key position minus query position.
struct distance_bias {
  at::Tensor value;
};

/// A context entry with the position of each token, int64 [B, T]. Set it if the position is not the
/// token's index, as in packed or padded sequences.
struct token_positions {
  at::Tensor value;
};

}  // namespace redco
