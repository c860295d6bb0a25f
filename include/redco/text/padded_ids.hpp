#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace redco::text {

/// Rows of token ids, padded to one length, with a mask that marks the padding.
struct padded_ids {
  at::Tensor ids;  ///< token ids, int64 [B, T]; T is the longest row's length
  /// mask of `ids`, bool [B, T]; false for padding
  at::Tensor mask;
};

/// Left-pads rows of token ids with id `padding`, so that all rows end in the last column. Use it
/// for prompts, and pass the mask to the network as `key_mask`.
padded_ids padded_in_front(std::span<std::vector<std::int64_t> const> rows, std::int64_t padding);

/// Right-pads rows of token ids with id `padding`. Use it for texts of an encoder and for labels.
padded_ids padded_behind(std::span<std::vector<std::int64_t> const> rows, std::int64_t padding);

}  // namespace redco::text

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/text/padded_ids.inl.hpp>
#endif
