#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <vector>

namespace redco::kernel {

/// A range of rows for each expert: expert e has the rows `[offsets[e], offsets[e + 1])` of a
/// tensor whose rows are sorted by expert. The first offset is 0, the last one the number of rows.
using expert_offsets = std::vector<std::int64_t>;

/// Returns the products of a mixture of experts: row r of x [rows, In], which belongs to expert e,
/// becomes `x[r] W_e^T`. `weights` are tensors [experts, Out, In]; the result has the columns of
/// all of them, side by side. Any number of rows may be 0. One call computes all experts, with
/// threads over experts and tiles of rows. Sums are in f32 (f64 for f64); on CUDA devices, the
/// gradient of x is a sum of one rounded product per weight. There, bf16 products take ATen's
/// grouped product, and others one operator per expert. Differentiable to any order. Autograd saves
/// x and the weights. Throws `error` with exit code 70 if the shapes do not fit.
at::Tensor grouped_linear(at::Tensor const& x, std::vector<at::Tensor> const& weights, expert_offsets const& offsets);

/// Returns rows [N copies, W] in which row `slots[n copies + j]` is row n of `x` [N, W]. `slots`,
/// int64 [N copies] in CPU memory or on the device of x, is a permutation. Autograd saves `slots`.
at::Tensor spread_rows(at::Tensor const& x, at::Tensor const& slots, std::int64_t copies);

/// Returns y [N, W], where y[n] is the sum of `weights[n, j] rows[slots[n copies + j]]` over the
/// `copies` indices j. Undefined `weights` count as 1; others are [N, copies] in f32 (f64 for f64).
/// Sums are in the dtype of the weights. Differentiable to any order. Autograd saves `slots`, and
/// with weights also `rows` and `weights`.
at::Tensor combine_rows(at::Tensor const& rows, at::Tensor const& weights, at::Tensor const& slots,
                        std::int64_t copies);

/// Returns the scores x W^T of a router in f32 (f64 for f64), for x [N, In] and W [experts, In].
/// Autograd saves x and W in their own dtypes. Differentiable to any order.
at::Tensor router_scores(at::Tensor const& x, at::Tensor const& weight);

/// Returns the elements of `x` [N, E] at the columns `chosen`, int64 [N, k]: [N, k]. Autograd saves
/// `chosen`. Differentiable to any order.
at::Tensor chosen_columns(at::Tensor const& x, at::Tensor const& chosen);

/// Returns a copy of `y`. Backward also starts at the scalar `extra`, whose gradient is 1: `extra`
/// is thereby added to every loss that is computed from the result.
at::Tensor with_extra_loss(at::Tensor const& y, at::Tensor const& extra);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/experts.inl.hpp>
#endif
