#pragma once

#include <redco/kernel/attention.hpp>
#include <redco/kernel/composed/attention.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel::composed {

/// Returns rows of x [entries, width] as a tensor [R, S, width]. `indices` [R, S] holds the indices
/// of the rows.
inline at::Tensor gathered(at::Tensor const& x, at::Tensor const& indices) {
  return x.index_select(0, indices.to(x.device()).flatten()).view({indices.size(0), indices.size(1), x.size(1)});
}

/// Computes attention to cached keys and values with ATen operators. First copies the keys and
/// values of each row of `q` to a contiguous tensor.
inline at::Tensor gathered_attention(at::Tensor const& q, gathered_keys const& seen, attention_options const& o) {
  return attention(q, gathered(seen.keys, seen.indices), gathered(seen.values, seen.indices), o);
}

}  // namespace redco::kernel::composed
