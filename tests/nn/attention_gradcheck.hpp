#pragma once

#include "torch_catch.hpp"

#include <cstdint>
#include <vector>

namespace redco_test {

/// The largest difference between autograd's gradients of the sum of f(inputs) * weights and central differences.
/// Inputs are f64 leaves that require gradients; f gives one tensor.
template <class F>
double gradient_error(F const& f, std::vector<at::Tensor> const& inputs) {
  at::Tensor const sample = f(inputs);
  at::Tensor const weights = at::linspace(-0.7, 1.3, sample.numel(), sample.options()).view_as(sample).detach();
  auto const value = [&] { return (f(inputs) * weights).sum(); };
  auto const gradients = torch::autograd::grad({value()}, inputs, {}, std::nullopt, false, true);
  double worst = 0;
  constexpr double h = 1e-6;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    auto* const x = inputs[k].mutable_data_ptr<double>();
    for (std::int64_t i = 0; i < inputs[k].numel(); ++i) {
      double const kept = x[i];
      x[i] = kept + h;
      double const above = value().template item<double>();
      x[i] = kept - h;
      double const below = value().template item<double>();
      x[i] = kept;
      double const found = gradients[k].defined() ? gradients[k].contiguous().view(-1)[i].template item<double>() : 0.0;
      worst = std::max(worst, std::abs((above - below) / (2 * h) - found));
    }
  }
  return worst;
}

/// The same for the gradients' own gradients.
template <class F>
double second_gradient_error(F const& f, std::vector<at::Tensor> const& inputs) {
  auto const first = [&](std::vector<at::Tensor> const& x) {
    at::Tensor const y = f(x);
    at::Tensor const weights = at::linspace(0.4, -1.1, y.numel(), y.options()).view_as(y).detach();
    auto const gradients = torch::autograd::grad({(y * y * weights).sum()}, x, {}, std::nullopt, true);
    std::vector<at::Tensor> flat;
    for (auto const& g : gradients) flat.push_back(g.reshape({-1}));
    return at::cat(flat);
  };
  return gradient_error(first, inputs);
}

}  // namespace redco_test
