#pragma once

#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/layout.hpp>

namespace redco {

/// A context entry with the encoder's input of an encoder-decoder model: token ids [B, S].
struct encoder_input {
  at::Tensor value;
};

}  // namespace redco

namespace redco::nn {

/// A context entry with the encoder's output [B, S, width], which the decoder's cross-attention
/// reads.
struct encoder_states {
  tensor<shape::replicated> value;
};

}  // namespace redco::nn

namespace redco {

/// A context entry with the mask of visible keys, bool [B, S]: true for a real position, false for
/// padding.
struct key_mask {
  at::Tensor value;
};

/// A context entry with the mask of the encoder's positions, bool [B, S]: true for a real position,
/// false for padding. The encoder's own attention and the decoder's cross-attention read it.
struct encoder_mask {
  at::Tensor value;
};

}  // namespace redco

namespace redco::nn {

/// A context entry with the token type (segment) of each token, int64 [B, T]: 0 for the first
/// sentence, 1 for the second. Types are 0 if the entry is not set.
struct token_type_ids {
  at::Tensor value;
};

/// A context entry with the bias that a `with_distance_bias` layer adds to attention scores: [heads
/// of this rank, 2 T - 1]. The second index is key position minus query position, plus T - 1.
struct distance_bias {
  at::Tensor value;
};

/// A context entry with the position of each token, int64 [B, T]. Set the entry if positions differ
/// from the token's index in its row, as in packed or left-padded sequences.
struct token_positions {
  at::Tensor value;
};

}  // namespace redco::nn
