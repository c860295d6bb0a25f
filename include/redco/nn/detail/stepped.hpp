#pragma once

#include <redco/kernel/gradient_step.hpp>
#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <iterator>
#include <vector>

namespace redco::nn::detail {

/// Returns parameters after one step of gradient descent: p - rate * dloss/dp for each p that
/// requires gradients and affects `loss`. Autograd records the step. Returns other parameters
/// unchanged.
inline std::vector<at::Tensor> stepped(std::vector<at::Tensor> const& parameters, at::Tensor const& loss, double rate) {
  auto const trained = [](at::Tensor const& p) { return p.requires_grad(); };
  if (std::ranges::all_of(parameters, trained))
    return kernel::gradient_step(parameters, torch::autograd::grad({loss}, parameters, {}, true, true, true), rate);
  std::vector<at::Tensor> some;
  std::ranges::copy_if(parameters, std::back_inserter(some), trained);
  if (some.empty()) return parameters;
  some = kernel::gradient_step(some, torch::autograd::grad({loss}, some, {}, true, true, true), rate);
  std::vector<at::Tensor> next = parameters;
  std::size_t from = 0;
  for (at::Tensor& p : next)
    if (trained(p)) p = some[from++];
  return next;
}

}  // namespace redco::nn::detail
