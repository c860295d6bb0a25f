#pragma once

#include <redco/tensor/torch.hpp>

#include <ATen/EmptyTensor.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <memory>

namespace redco::tensors {

/// Returns an uninitialised contiguous tensor in CPU memory. Faster than at::empty, whose operator
/// dispatch takes longer than the work on a small tensor.
inline at::Tensor empty_on_cpu(at::IntArrayRef sizes, at::ScalarType type) {
  return at::Tensor(at::detail::empty_cpu(sizes, type));
}

/// Returns a new autograd node of type T, with one edge per input and no edge for an undefined
/// input. The caller fills the node's members. Used for small operations, for which a
/// torch::autograd::Function would take longer than the arithmetic.
template <class T, class... Inputs>
std::shared_ptr<T> recorded_node(Inputs const&... inputs) {
  std::shared_ptr<T> node(new T, torch::autograd::deleteNode);
  node->set_next_edges(torch::autograd::collect_next_edges(inputs...));
  return node;
}

/// Returns true if autograd must record a function of these tensors: grad mode is on and a tensor
/// requires a gradient. Tensors may be undefined.
template <class... Inputs>
bool is_recorded(Inputs const&... inputs) {
  return at::GradMode::is_enabled() && ((inputs.defined() && inputs.requires_grad()) || ...);
}

}  // namespace redco::tensors
