#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace redco {

/// A batch of rows of ids, padded to one length, with the mask of their padding.
struct padded_ids {
  at::Tensor ids;  ///< ids, int64 [B, T]; T is the longest row's length
  /// Mask, bool [B, T]; false for padding.
  at::Tensor mask;
};

/// Left-pads rows of ids, so that the last ids of all rows are in one column. For prompts; hide the
/// padding by `key_mask`.
padded_ids padded_in_front(std::span<std::vector<std::int64_t> const> rows, std::int64_t padding);

/// Right-pads rows of ids: texts for an encoder, or labels.
padded_ids padded_behind(std::span<std::vector<std::int64_t> const> rows, std::int64_t padding);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/text/padded_ids.inl.hpp>
#endif
