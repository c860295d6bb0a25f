#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::kernel {

/// Rows of a vocabulary table by int64 ids [B, T]: [B, T, width]. `table` is the shard [rows, width] whose first row is
/// `first_row` of a vocabulary of `vocabulary` rows; ids of other shards give zeros. Saves the local ids only.
/// Looking up the id `padding` gives its row no gradient. Errors: exit code 65 for an id outside the vocabulary.
at::Tensor lookup(at::Tensor const& table, at::Tensor const& ids, std::int64_t first_row, std::int64_t vocabulary,
                  std::int64_t padding = -1);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/lookup.inl.hpp>
#endif
