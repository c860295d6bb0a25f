#pragma once

#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::comm {

/// A table of the number of rows that each rank of a group sends to each other rank, for
/// exchange_rows(). The counts that rank 0 sends to ranks 0, 1, ... come first, then those of rank
/// 1, and so on.
struct exchanged_counts {
  std::vector<std::int64_t> counts;
  int ranks = 1;

  /// Returns the counts of the opposite exchange, which sends every row back.
  exchanged_counts back() const {
    exchanged_counts other{std::vector<std::int64_t>(counts.size()), ranks};
    auto const n = static_cast<std::size_t>(ranks);
    for (std::size_t from = 0; from < n; ++from)
      for (std::size_t to = 0; to < n; ++to) other.counts[to * n + from] = counts[from * n + to];
    return other;
  }
};

/// Sends rows of `x` [rows, W], which are in the order of the receiving ranks, to the ranks of a
/// group. Returns the rows that arrived, in the order of the sending ranks. Backward sends the
/// gradients back. Differentiable to any order. All ranks of the group must call it in the same
/// order, with 0 rows too. A group of one rank returns `x`. The group must outlive the autograd
/// graph.
at::Tensor exchange_rows(at::Tensor const& x, group& ranks, exchanged_counts const& rows);

}  // namespace redco::comm

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/row_exchange.inl.hpp>
#endif
