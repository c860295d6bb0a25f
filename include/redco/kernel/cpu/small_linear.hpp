#pragma once

#include <redco/tensor/recorded_node.hpp>
#include <redco/tensor/torch.hpp>

#include <string>

namespace redco::kernel::cpu {

/// Returns true if small_linear can compute x W^T + b. Requirements: dtype f32 or f64, at most
/// small_work() multiplications, contiguous rows, and sizes that fit together.
bool is_small_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias);

/// Returns x W^T + b, or max(x W^T + b, 0) if `rectified`, computed on the calling thread as one
/// autograd node. One backward call computes all gradients; under create_graph they are again one
/// differentiable node. Autograd saves x and W.
///
/// Requires that is_small_linear returns true. If `rectified`, autograd must record the call, and
/// the caller must then call save_rectified on the result.
at::Tensor small_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias, bool rectified = false);

/// Saves `y` for backward if `y` is the result of small_linear with `rectified` and is not saved
/// yet. Returns true in this case.
bool save_rectified(at::Tensor const& y);

/// The autograd node of small_linear (x W^T + b, optionally with a relu).
struct small_linear_node final : torch::autograd::Node {
  /// Saved tensors. `y` is the result of the relu; it is saved only with a relu.
  torch::autograd::SavedVariable x, weight, y;
  bool rectified = false, saved = false;

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override;
  void release_variables() override;
  std::string name() const override { return "small_linear"; }
};

/// The autograd node of small_linear's gradients, for derivatives of second order. Its inputs are
/// x, W, and the gradient g of the result.
struct small_linear_gradients_node final : torch::autograd::Node {
  torch::autograd::SavedVariable g, x, weight, y;
  bool rectified = false;

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override;
  void release_variables() override;
  std::string name() const override { return "small_linear_gradients"; }
};

}  // namespace redco::kernel::cpu

#ifndef REDCO_COMPILED
#include <redco/kernel/cpu/small_linear.inl.hpp>
#endif
