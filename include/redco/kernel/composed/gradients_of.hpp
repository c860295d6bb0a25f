#pragma once

#include <redco/tensor/torch.hpp>

#include <cstddef>

namespace redco::kernel::composed {

/// The gradients of f(inputs), a composition of differentiable operators, in a form that can be differentiated again: what a
/// hand-written backward gives under create_graph. Undefined for an input that needs none, or is undefined itself.
template <class F>
torch::autograd::variable_list gradients_of(F const& f, torch::autograd::variable_list inputs,
                                            at::Tensor const& gradient) {
  auto const needed = [](at::Tensor const& x) { return x.defined() && x.requires_grad(); };
  torch::autograd::variable_list wanted;
  for (at::Tensor& x : inputs) {
    if (!needed(x)) continue;
    x = x.view_as(x);  // cuts f's graph off here and keeps the way to what x depends on
    wanted.push_back(x);
  }
  auto const found = torch::autograd::grad({f(inputs)}, wanted, {gradient}, true, true, true);
  torch::autograd::variable_list result;
  std::size_t next = 0;
  for (at::Tensor const& x : inputs) result.push_back(needed(x) ? found[next++] : at::Tensor());
  return result;
}

}  // namespace redco::kernel::composed
