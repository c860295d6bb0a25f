#pragma once

#include <redco/comm/group.hpp>

#include <redco/shape/layout.hpp>

#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <vector>

namespace redco::comm::detail {

// The conversions on local tensors, with the dimension as a number.
at::Tensor gather_parts(at::Tensor const& x, group& ranks, std::int64_t dim);
at::Tensor scatter_part(at::Tensor const& x, group& ranks, std::int64_t dim);
at::Tensor gather_entered(at::Tensor const& x, group& ranks, std::int64_t dim);
at::Tensor reduce_to_part(tensor<partial> const& x, group& ranks, std::int64_t dim);

}  // namespace redco::comm::detail

namespace redco {

// The conversions between layouts. Each is a call that all ranks of the group make; its gradient is the conversion in
// the opposite sense, so derivatives of any order are right. Without a gradient to follow no autograd node is made; a
// group of one returns its argument. The group must outlive the graph. Errors are those of `group`.

/// Takes a replicated value into column-parallel layers. The value stays; its gradient, a pending sum, is all-reduced.
tensor<entered> enter(tensor<replicated> const& x, group& ranks);

/// Takes a parameter, of which runs of `sharers` neighbouring ranks hold the rows from `first` on alike, into layers where each
/// rank uses it for itself. The value stays; the gradient of those rows, pending over each run, is summed over it.
at::Tensor enter_shared(at::Tensor const& x, group& ranks, int sharers, std::int64_t first = 0);

/// Sums a pending value over the ranks, then adds its addends once. The gradient stays as it is.
tensor<replicated> reduce(tensor<partial> const& x, group& ranks);

/// What `reduce` gives of a value whose sum over the ranks is there already, in memory that nobody else reads.
tensor<replicated> with_addends(at::Tensor sum, std::vector<at::Tensor> const& addends);

/// Joins the ranks' parts; the gradient is this rank's part of the unsharded gradient.
template <int Dim>
tensor<replicated> gather(tensor<split<Dim>> const& x, group& ranks) {
  return comm::detail::gather_parts(x.local(), ranks, Dim);
}

/// Keeps this rank's part along `Dim`, whose extent must divide; the gradients of the parts are joined.
template <int Dim>
tensor<split<Dim>> scatter(tensor<replicated> const& x, group& ranks) {
  return tensor<split<Dim>>(comm::detail::scatter_part(x.local(), ranks, Dim));
}

/// Joins the ranks' parts on their way into column-parallel layers (sequence parallelism); the gradient, a pending
/// sum, is reduced and each rank keeps its part.
template <int Dim>
tensor<entered> all_gather_entered(tensor<split<Dim>> const& x, group& ranks) {
  return tensor<entered>(comm::detail::gather_entered(x.local(), ranks, Dim));
}

/// Sums a pending value and keeps this rank's part along `Dim`, whose extent must divide; addends are added once. The
/// gradients of the parts are joined. An addend that is broadcast along `Dim` enters: every part's gradient is a part
/// of its.
template <int Dim>
tensor<split<Dim>> reduce_scatter(tensor<partial> const& x, group& ranks) {
  return tensor<split<Dim>>(comm::detail::reduce_to_part(x, ranks, Dim));
}

/// Cuts a replicated value [B, T, features] into runs of tokens; T need not divide. The gradients of the runs are joined.
tensor<token_split> scatter_tokens(tensor<replicated> const& x, group& ranks);

/// Joins runs of tokens on their way into column-parallel layers; the gradient, a pending sum, is reduced and each rank
/// keeps its run.
tensor<entered> enter(tensor<token_split> const& x, group& ranks);

/// Joins runs of tokens; the gradient is this rank's run of the unsharded gradient.
tensor<replicated> gather(tensor<token_split> const& x, group& ranks);

/// Sums a pending value and keeps this rank's run of tokens; addends, which broadcast over the tokens, are added once.
tensor<token_split> reduce_tokens(tensor<partial> const& x, group& ranks);

/// What `reduce_tokens` gives of a value whose sums for this rank's run are there already.
tensor<token_split> with_addends(tensor<token_split> sums, std::vector<at::Tensor> const& addends, group& ranks);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/comm/collectives.inl.hpp>
#endif
