#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace redco {

/// An example of a sequence-to-sequence task: the token ids of a source text and of its target
/// text. Both include the end token.
struct seq2seq_example {
  std::vector<std::int64_t> source;
  std::vector<std::int64_t> target;
};

}  // namespace redco

namespace redco::text {

/// Shortens a text to at most `most` token ids: its first ids, then its last id (the end token).
/// Requires most > 0.
std::vector<std::int64_t> shortened(std::vector<std::int64_t> ids, std::int64_t most);

}  // namespace redco::text

namespace redco {

/// A training batch for an encoder-decoder model.
struct seq2seq_batch {
  at::Tensor source;       ///< token ids of the source texts, int64 [B, S]
  at::Tensor source_mask;  ///< mask of `source`, bool [B, S]; false for padding
  /// Token ids of the decoder's input, int64 [B, T]: the start id, then the target without its last
  /// id.
  at::Tensor decoder_ids;
  /// Token ids that the decoder should predict, int64 [B, T]: the target, then -100.
  at::Tensor labels;
};

/// Converts examples to a batch with right padding. `start`: first id of the decoder's input;
/// `padding`: id of padding.
seq2seq_batch seq2seq_batch_of(std::span<seq2seq_example const> examples, std::int64_t start, std::int64_t padding);

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/text/seq2seq_batch.inl.hpp>
#endif
