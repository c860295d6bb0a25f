#pragma once

#include <redco/tensor/torch.hpp>

#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <memory>

namespace redco {

/// Returns a T, a torch::autograd::Node that the caller fills, whose results go to `inputs`: one
/// edge for each, none for an undefined one. For small operations, where the maps and lists of
/// torch::autograd::Function take longer than the operation.
template <class T, class... Inputs>
std::shared_ptr<T> recorded_node(Inputs const&... inputs) {
  std::shared_ptr<T> node(new T, torch::autograd::deleteNode);
  node->set_next_edges(torch::autograd::collect_next_edges(inputs...));
  return node;
}

/// Returns true if a function of these tensors, of which some may be undefined, is recorded by
/// autograd.
template <class... Inputs>
bool is_recorded(Inputs const&... inputs) {
  return at::GradMode::is_enabled() && ((inputs.defined() && inputs.requires_grad()) || ...);
}

}  // namespace redco
