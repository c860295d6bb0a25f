#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::kernel::composed {

/// Returns rows of this rank's shard of a table, with ATen operators. An id of -1 gives zeros. The
/// row with the id `padding` gets no gradient.
inline at::Tensor lookup(at::Tensor const& table, at::Tensor const& local_ids, std::int64_t padding) {
  at::Tensor const rows = at::embedding(table, local_ids.clamp_min(0), padding);
  return rows.masked_fill(local_ids.lt(0).unsqueeze(-1), 0);
}

}  // namespace redco::kernel::composed
