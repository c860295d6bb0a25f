#pragma once

#include <redco/kernel/activations.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/tensor/without_dispatch.hpp>

#include <string>

namespace redco::kernel::cpu {

/// Returns true if fused_linear can compute x W^T + b. Requirements: dtype f32 or f64, at most
/// small_work() multiplications, contiguous rows, and sizes that fit together.
bool is_small_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias);

/// Returns true if fused_linear computes x W^T + b faster than ATen although the product is not
/// small: on several threads, with operands that stay in caches. Requirements: dtype f32 or f64,
/// contiguous rows, and sizes of W that are multiples of 32. W has at most 2^16 elements; x and the
/// result have at most 2^20.
bool is_panel_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias);

/// Returns true if fused_linear computes x W^T + b faster than ATen by f32_product. Requirements:
/// f32, contiguous rows, is_packed_product.
bool is_packed_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias);

/// Returns x W^T + b, or its activation `next`, computed as one autograd node. A small product is
/// computed on the calling thread. One call computes all gradients. Under create_graph the
/// gradients are one node again, with a backward of its own. Saves x and W.
///
/// Requires is_small_linear, or is_panel_linear or is_packed_linear without an activation. With an
/// activation, autograd must record the call, and the caller must call save_result next.
at::Tensor fused_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                        after_linear next = after_linear::nothing);

/// Saves `y` for backward if `y` is a result of fused_linear with an activation that is not saved
/// yet. Returns true in this case.
bool save_result(at::Tensor const& y);

/// The autograd node of fused_linear.
struct fused_linear_node final : torch::autograd::Node {
  /// `y` is the result, saved only if it has an activation.
  torch::autograd::SavedVariable x, weight, y;
  after_linear next = after_linear::nothing;
  bool saved = false;

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override;
  void release_variables() override;
  std::string name() const override { return "fused_linear"; }
};

/// The autograd node of fused_linear's gradients. Its inputs are the gradient g of the result, x,
/// W and, if the activation has a second derivative, the result y.
struct fused_linear_gradients_node final : torch::autograd::Node {
  torch::autograd::SavedVariable g, x, weight, y;
  after_linear next = after_linear::nothing;

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override;
  void release_variables() override;
  std::string name() const override { return "fused_linear_gradients"; }
};

inline bool save_result(at::Tensor const& y) {
  auto* const node = dynamic_cast<fused_linear_node*>(y.grad_fn().get());
  if (node == nullptr || node->next == after_linear::nothing || node->saved) return false;
  node->y = {y, true};
  node->saved = true;
  return true;
}

}  // namespace redco::kernel::cpu

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/cpu/fused_linear.inl.hpp>
#endif
