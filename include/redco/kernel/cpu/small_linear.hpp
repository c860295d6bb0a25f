#pragma once

#include <redco/kernel/after_linear.hpp>
#include <redco/tensor/recorded_node.hpp>
#include <redco/tensor/torch.hpp>

#include <string>

namespace redco::kernel::cpu {

/// Returns true if small_linear makes x W^T + b: in f32 or f64, of at most small_work()
/// multiplications, of tensors whose rows are contiguous and whose sizes fit.
bool is_small_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias);

/// Returns x W^T + b, or its activation `next`, on the calling thread, as one node of autograd. One
/// call makes its gradients; if a graph of them is recorded, they are one node again, with its own
/// backward. Saves x and W. Requires is_small_linear; with an activation, that autograd records the
/// call and that save_result is called next.
at::Tensor small_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                        after_linear next = after_linear::nothing);

/// Saves y if small_linear made it with an activation, and returns true if it did.
bool save_result(at::Tensor const& y);

/// Backward of small_linear.
struct small_linear_node final : torch::autograd::Node {
  torch::autograd::SavedVariable x, weight, y;  ///< y, the result, if it has an activation
  after_linear next = after_linear::nothing;
  bool saved = false;

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override;
  void release_variables() override;
  std::string name() const override { return "small_linear"; }
};

/// Backward of these gradients, as a function of the gradient g of the result, of x, of W and, if
/// the activation has a curvature, of the result y.
struct small_linear_gradients_node final : torch::autograd::Node {
  torch::autograd::SavedVariable g, x, weight, y;
  after_linear next = after_linear::nothing;

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override;
  void release_variables() override;
  std::string name() const override { return "small_linear_gradients"; }
};

}  // namespace redco::kernel::cpu

#ifndef REDCO_COMPILED
#include <redco/kernel/cpu/small_linear.inl.hpp>
#endif
