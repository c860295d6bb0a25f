#pragma once

#include <redco/text/seq2seq_batch.hpp>

#include <redco/text/padded_ids.hpp>

#include <redco/config.hpp>

#include <cstddef>
#include <iterator>

namespace redco::text {

REDCO_INLINE std::vector<std::int64_t> shortened(std::vector<std::int64_t> ids, std::int64_t most) {
  if (std::ssize(ids) <= most) return ids;
  ids[static_cast<std::size_t>(most - 1)] = ids.back();
  ids.resize(static_cast<std::size_t>(most));
  return ids;
}

}  // namespace redco::text

namespace redco {

REDCO_INLINE seq2seq_batch seq2seq_batch_of(std::span<seq2seq_example const> examples, std::int64_t start,
                                            std::int64_t padding) {
  std::vector<std::vector<std::int64_t>> sources, targets;
  for (seq2seq_example const& one : examples) {
    sources.push_back(one.source);
    targets.push_back(one.target);
  }
  text::padded_ids const source = text::padded_behind(sources, padding), target = text::padded_behind(targets, padding);
  at::Tensor const decoder_ids = target.ids.roll(1, 1);
  if (decoder_ids.size(1) > 0) decoder_ids.select(1, 0).fill_(start);
  return {source.ids, source.mask, decoder_ids, target.ids.masked_fill(target.mask.logical_not(), -100)};
}

}  // namespace redco
