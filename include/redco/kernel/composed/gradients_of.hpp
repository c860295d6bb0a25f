#pragma once

#include <redco/tensor/torch.hpp>

#include <cstddef>

namespace redco::kernel::composed {

/// Returns the gradients of f(inputs) in a form that can be differentiated again. `f` must consist
/// of differentiable operators. A hand-written backward calls this function under create_graph. The
/// gradient is undefined for an input that is undefined or needs no gradient.
template <class F>
torch::autograd::variable_list gradients_of(F const& f, torch::autograd::variable_list inputs,
                                            at::Tensor const& gradient) {
  auto const needed = [](at::Tensor const& x) { return x.defined() && x.requires_grad(); };
  torch::autograd::variable_list wanted;
  for (at::Tensor& x : inputs) {
    if (!needed(x)) continue;
    // The view bounds the graph of f but stays connected to the graph of x.
    x = x.view_as(x);
    wanted.push_back(x);
  }
  auto const found = torch::autograd::grad({f(inputs)}, wanted, {gradient}, true, true, true);
  torch::autograd::variable_list result;
  std::size_t next = 0;
  for (at::Tensor const& x : inputs) result.push_back(needed(x) ? found[next++] : at::Tensor());
  return result;
}

}  // namespace redco::kernel::composed
