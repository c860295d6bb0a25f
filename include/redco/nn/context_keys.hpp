#pragma once

namespace redco {

/// The input of the encoder (token ids [B, S]), an at::Tensor that the caller sets for an encoder-decoder.
struct encoder_input {};

/// The encoder's result [B, S, width], a tensor<replicated>: what cross-attention reads.
struct encoder_states {};

/// Which keys may be seen, bool [B, S], an at::Tensor: true where a position is real. Cross-attention reads
/// `encoder_mask`. An encoder takes `encoder_mask` for its own attention too.
struct key_mask {};
struct encoder_mask {};

/// The kind of each token (the first or the second sentence), int64 [B, T], an at::Tensor; 0 where it is not set.
struct token_type_ids {};

/// What a `with_distance_bias` adds to scores: [heads of this rank, 2 T - 1] by distance key - query, an at::Tensor.
struct distance_bias {};

/// The position of each token, int64 [B, T], an at::Tensor: set where it is not its index (packed or padded sequences).
struct token_positions {};

}  // namespace redco
