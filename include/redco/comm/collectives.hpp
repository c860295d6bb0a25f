#pragma once

#include <redco/comm/group.hpp>

#include <redco/shape/layout.hpp>

#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <vector>

namespace redco::comm::detail {

// Layout conversions of local tensors, with the tensor dimension as a run-time argument.
at::Tensor gather_parts(at::Tensor const& x, group& ranks, std::int64_t dim);
at::Tensor scatter_part(at::Tensor const& x, group& ranks, std::int64_t dim);
at::Tensor gather_entered(at::Tensor const& x, group& ranks, std::int64_t dim);
at::Tensor reduce_to_part(tensor<shape::partial> const& x, group& ranks, std::int64_t dim);

}  // namespace redco::comm::detail

namespace redco::comm {

// Conversions between layouts. All ranks of the group must call them in the same order. The
// gradient of each conversion is the opposite conversion, so that derivatives of any order are
// correct. No autograd node is recorded if `x` does not require grad. A group of one rank returns
// its argument. The group must outlive the autograd graph. Errors are those of `group`.

/// Converts a replicated value to `entered`, the layout that column-parallel layers take. The value
/// does not change. Backward sums the gradient, which is a pending sum, over the ranks by
/// all_reduce.
tensor<shape::entered> enter(tensor<shape::replicated> const& x, group& ranks);

/// Prepares a parameter for layers in which each rank uses rows that several ranks hold. Each
/// sharer group (`sharers` neighbouring ranks) holds equal copies of the rows from index `first`
/// on. Returns `x` unchanged. Backward sums the gradient of these rows over the sharer group.
at::Tensor enter_shared(at::Tensor const& x, group& ranks, int sharers, std::int64_t first = 0);

/// Sends x[j] to each rank j and returns what the ranks sent here, in rank order. `x` has one entry
/// per rank along its first dimension. Backward sends the gradients back.
at::Tensor exchange(at::Tensor const& x, group& ranks);

/// Returns the tensor `x` of rank `root` on all ranks, on the device `device`. Its shape and dtype,
/// which other ranks need not know, are sent first. Other ranks ignore their `x`. Not
/// differentiable.
at::Tensor broadcast_unknown(at::Tensor const& x, group& ranks, int root, at::Device device);

/// Sums a partial value over the ranks, then adds its addends (such as row-parallel biases) once.
/// Backward passes the gradient on unchanged.
tensor<shape::replicated> reduce(tensor<shape::partial> const& x, group& ranks);

/// Returns `sum` plus `addends`. Gives the result of reduce() for a partial tensor whose sum over
/// the ranks, `sum`, is already computed. `sum` may be overwritten in place, so no other code may
/// read it.
tensor<shape::replicated> with_addends(at::Tensor sum, std::vector<at::Tensor> const& addends);

/// Returns the parts of all ranks, concatenated along the tensor dimension `Dim`. Backward returns
/// this rank's part of the gradient and communicates nothing.
template <int Dim>
tensor<shape::replicated> gather(tensor<shape::split<Dim>> const& x, group& ranks) {
  return detail::gather_parts(x.local(), ranks, Dim);
}

/// Returns this rank's part of `x` along `Dim`. The extent must be divisible by the number of
/// ranks. Backward concatenates the gradients of the parts.
template <int Dim>
tensor<shape::split<Dim>> scatter(tensor<shape::replicated> const& x, group& ranks) {
  return tensor<shape::split<Dim>>(detail::scatter_part(x.local(), ranks, Dim));
}

/// Concatenates the ranks' parts along `Dim`, as input of a column-parallel layer (sequence
/// parallelism). In backward, the gradient is a pending sum over the ranks. Backward computes the
/// sum and returns this rank's part by a reduce_scatter.
template <int Dim>
tensor<shape::entered> all_gather_entered(tensor<shape::split<Dim>> const& x, group& ranks) {
  return tensor<shape::entered>(detail::gather_entered(x.local(), ranks, Dim));
}

/// Sums a partial value over the ranks and returns this rank's part along `Dim`. The extent of
/// `Dim` must be divisible by the number of ranks. The addends of `x` are added once. Backward
/// concatenates the gradients of the parts. If an addend broadcasts along `Dim`, backward sums its
/// gradient over the ranks.
template <int Dim>
tensor<shape::split<Dim>> reduce_scatter(tensor<shape::partial> const& x, group& ranks) {
  return tensor<shape::split<Dim>>(detail::reduce_to_part(x, ranks, Dim));
}

/// Splits a replicated value `[B, T, features]` into one range of tokens per rank. If T is not
/// divisible by the number of ranks, the end is padded. Backward concatenates the gradients of the
/// ranges.
tensor<shape::token_split> scatter_tokens(tensor<shape::replicated> const& x, group& ranks);

/// Concatenates the ranks' token ranges, without padding, as input of a column-parallel layer. In
/// backward, the gradient is a pending sum over the ranks. Backward computes the sum and returns
/// this rank's token range.
tensor<shape::entered> enter(tensor<shape::token_split> const& x, group& ranks);

/// Concatenates the ranks' token ranges, without padding, into a replicated value. Backward returns
/// this rank's token range of the gradient and communicates nothing.
tensor<shape::replicated> gather(tensor<shape::token_split> const& x, group& ranks);

/// Sums a partial value over the ranks and returns this rank's range of tokens. The addends of `x`
/// (such as row-parallel biases) are added once. Each addend must broadcast over the tokens.
tensor<shape::token_split> reduce_tokens(tensor<shape::partial> const& x, group& ranks);

/// Returns `sums` plus `addends`. Gives the result of reduce_tokens() for a partial tensor whose
/// sums for this rank's token range, `sums`, are already computed.
tensor<shape::token_split> with_addends(tensor<shape::token_split> sums, std::vector<at::Tensor> const& addends,
                                        group& ranks);

inline tensor<shape::replicated> with_addends(at::Tensor sum, std::vector<at::Tensor> const& addends) {
  for (at::Tensor const& addend : addends) {
    if (at::infer_size(sum.sizes(), addend.sizes()) == sum.sizes() && addend.scalar_type() == sum.scalar_type()) {
      sum.add_(addend);
    } else {
      sum = sum + addend;
    }
  }
  return sum;
}

}  // namespace redco::comm

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/collectives.inl.hpp>
#endif
