#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace redco {

/// A pair of token-id sequences: a source text and its target text, including the end token.
struct seq2seq_example {
  std::vector<std::int64_t> source;
  std::vector<std::int64_t> target;
};

/// Returns the first `most` ids of a text, with the text's last id (its end token) in last place.
/// Requires most > 0.
std::vector<std::int64_t> shortened(std::vector<std::int64_t> ids, std::int64_t most);

/// A batch for an encoder-decoder model.
struct seq2seq_batch {
  at::Tensor source;       ///< ids of the source texts, int64 [B, S]
  at::Tensor source_mask;  ///< mask of `source`, bool [B, S]; false for padding
  /// Input of the decoder, int64 [B, T]: `start`, then the target without its last id.
  at::Tensor decoder_ids;
  /// Target ids, int64 [B, T]; -100 after the end of a target.
  at::Tensor labels;
};

/// Returns a batch of right-padded examples. `start`: first id of the decoder's input; `padding`:
/// id of padding.
seq2seq_batch seq2seq_batch_of(std::span<seq2seq_example const> examples, std::int64_t start, std::int64_t padding);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/text/seq2seq_batch.inl.hpp>
#endif
