#pragma once

#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::comm {

/// Sends rows of `x` [rows, W], which are in the order of the receiving ranks, to the ranks of a
/// group. Returns the rows that arrived, in the order of the sending ranks. Backward sends the
/// gradients back. Differentiable to any order. All ranks of the group must call it in the same
/// order, with 0 rows too. A group of one rank returns `x`. The group must outlive the autograd
/// graph.
at::Tensor exchange_rows(at::Tensor const& x, group& ranks, row_counts const& rows);

}  // namespace redco::comm

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/row_exchange.inl.hpp>
#endif
