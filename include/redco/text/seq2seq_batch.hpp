#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace redco {

/// One text's ids and those of the text that answers it, its end included.
struct seq2seq_example {
  std::vector<std::int64_t> source;
  std::vector<std::int64_t> target;
};

/// The first `most` ids of a text; the last stays the last, as it is the text's end. Requires most > 0.
std::vector<std::int64_t> shortened(std::vector<std::int64_t> ids, std::int64_t most);

/// A batch for an encoder-decoder.
struct seq2seq_batch {
  at::Tensor source;       ///< int64 [B, S]
  at::Tensor source_mask;  ///< bool [B, S], false where `source` is padding
  at::Tensor decoder_ids;  ///< int64 [B, T]: `start`, then the target without its last id
  at::Tensor labels;       ///< int64 [B, T]: the target, -100 behind its end
};

/// Examples side by side, right-padded.
seq2seq_batch seq2seq_batch_of(std::span<seq2seq_example const> examples, std::int64_t start, std::int64_t padding);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/text/seq2seq_batch.inl.hpp>
#endif
