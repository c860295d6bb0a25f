#pragma once

// Compares derivatives with central differences in f64. Each function returns the largest error
// divided by 1 + |expected|.

#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace gradcheck {

using tensor_list = std::vector<at::Tensor>;

/// Returns central differences of fourth order of `number` at `inputs`, one tensor for each. The
/// step balances rounding, about 1e-16 / step, with the error of the formula, step^4 / 30 times the
/// fifth derivative.
inline tensor_list differences(tensor_list const& inputs, std::function<double(tensor_list const&)> const& number) {
  constexpr double step = 5e-4;
  tensor_list slopes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    slopes.push_back(at::empty({inputs[i].numel()}, at::kDouble));
    for (std::int64_t j = 0; j < inputs[i].numel(); ++j) {
      auto const moved = [&](double by) {
        tensor_list copies;
        for (auto const& x : inputs) copies.push_back(x.detach().clone().requires_grad_(x.requires_grad()));
        {
          at::NoGradGuard const quiet;
          copies[i].view({-1})[j].add_(by);
        }
        return number(copies);
      };
      double const near = moved(step) - moved(-step), far = moved(2 * step) - moved(-2 * step);
      slopes[i][j] = (8 * near - far) / (12 * step);
    }
  }
  return slopes;
}

inline double error_of(tensor_list const& analytic, tensor_list const& expected) {
  double worst = 0;
  for (std::size_t i = 0; i < analytic.size(); ++i) {
    at::Tensor const found = analytic[i].detach().reshape({-1});
    double const error = ((found - expected[i]).abs() / (1 + expected[i].abs())).max().item().toDouble();
    worst = std::isnan(error) ? 1e300 : std::max(worst, error);
  }
  return worst;
}

/// Returns asymmetric weights, so that no two outputs cancel.
inline at::Tensor weights_for(at::Tensor const& y, double phase) {
  return at::sin(at::arange(y.numel(), y.options().requires_grad(false)) * 1.7 + phase).view_as(y) + 0.3;
}

/// Checks the first derivatives of f, with grad mode off in backward (the kernels) and on (the
/// composed path), and returns the larger error.
inline double first(std::function<at::Tensor(tensor_list const&)> const& f, tensor_list const& inputs) {
  auto const number = [&](tensor_list const& x) {
    auto const y = f(x);
    return (y * weights_for(y, 0.1)).sum();
  };
  tensor_list const expected = differences(inputs, [&](tensor_list const& x) { return number(x).item().toDouble(); });
  double worst = 0;
  for (bool const create_graph : {false, true})
    worst =
        std::max(worst, error_of(torch::autograd::grad({number(inputs)}, inputs, {}, true, create_graph), expected));
  return worst;
}

/// Checks the second derivatives of f: gradients of weighted sums of its gradients, compared with
/// differences of the kernels' gradients.
inline double second(std::function<at::Tensor(tensor_list const&)> const& f, tensor_list const& inputs) {
  auto const number = [&](tensor_list const& x, bool create_graph) {
    auto const y = f(x);
    auto const grads = torch::autograd::grad({(y * y * weights_for(y, 0.1)).sum()}, x, {}, true, create_graph);
    auto total = at::zeros({}, y.options());
    for (std::size_t i = 0; i < grads.size(); ++i)
      total = total + (grads[i] * weights_for(grads[i], 0.5 + static_cast<double>(i))).sum();
    return total;
  };
  auto const grads = torch::autograd::grad({number(inputs, true)}, inputs, {}, false, false, true);
  tensor_list defined;
  for (std::size_t i = 0; i < grads.size(); ++i)
    defined.push_back(grads[i].defined() ? grads[i] : at::zeros_like(inputs[i]));
  return error_of(defined,
                  differences(inputs, [&](tensor_list const& x) { return number(x, false).item().toDouble(); }));
}

}  // namespace gradcheck
