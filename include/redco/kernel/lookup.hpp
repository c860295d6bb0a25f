#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::kernel {

/// Returns the rows [B, T, width] of a vocabulary table for int64 ids [B, T]. `table` [rows, width]
/// is this rank's shard; its first row is row `first_row` of the whole table of `vocabulary` rows.
/// Ids of other shards give zeros. The row of the id `padding` gets no gradient.
///
/// Autograd saves only the ids relative to the shard. Throws `error` with exit code 65 for an id
/// outside the vocabulary.
at::Tensor lookup(at::Tensor const& table, at::Tensor const& ids, std::int64_t first_row, std::int64_t vocabulary,
                  std::int64_t padding = -1);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/lookup.inl.hpp>
#endif
