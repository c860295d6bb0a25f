#pragma once

#include <redco/nn/detail/stepped.hpp>

#include <redco/kernel/gradient_step.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace redco::nn::detail {

REDCO_INLINE std::vector<at::Tensor> stepped(std::vector<at::Tensor> const& parameters, at::Tensor const& loss,
                                             double rate) {
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
