#pragma once

#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/layout.hpp>

namespace redco {

/// What the encoder of an encoder-decoder reads: token ids [B, S].
struct encoder_input {
  at::Tensor value;
};

/// The encoder's result [B, S, width], which cross-attention reads.
struct encoder_states {
  tensor<replicated> value;
};

/// Which keys may be seen, bool [B, S]: true where a position is real.
struct key_mask {
  at::Tensor value;
};

/// The same for cross-attention and for the encoder's own.
struct encoder_mask {
  at::Tensor value;
};

/// The kind of each token (the first or the second sentence), int64 [B, T]; 0 where it is not set.
struct token_type_ids {
  at::Tensor value;
};

/// What a `with_distance_bias` adds to scores: [heads of this rank, 2 T - 1] by distance key - query.
struct distance_bias {
  at::Tensor value;
};

/// The position of each token, int64 [B, T]: set where it is not its index (packed or padded sequences).
struct token_positions {
  at::Tensor value;
};

}  // namespace redco
