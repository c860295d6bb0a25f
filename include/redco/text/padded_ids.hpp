#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace redco {

/// Rows of ids of one length.
struct padded_ids {
  at::Tensor ids;   ///< int64 [B, T], T the longest row's
  at::Tensor mask;  ///< bool [B, T], false where `ids` is padding
};

/// Left-padded rows: prompts, whose last ids stand side by side. Mask them with `key_mask`.
padded_ids padded_in_front(std::span<std::vector<std::int64_t> const> rows, std::int64_t padding);

/// Right-padded rows: texts for an encoder, labels.
padded_ids padded_behind(std::span<std::vector<std::int64_t> const> rows, std::int64_t padding);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/text/padded_ids.inl.hpp>
#endif
