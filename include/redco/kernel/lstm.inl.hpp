#pragma once

#include <redco/kernel/lstm.hpp>

#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/kernel/cpu/earlier_outputs.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/config.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace redco::kernel {

namespace detail {

/// Outputs and cells, step by step.
inline std::pair<at::Tensor, at::Tensor> lstm_steps(at::Tensor const& projected, at::Tensor const& weight) {
  at::Tensor const turned = weight.t();
  at::Tensor h = at::zeros({projected.size(0), weight.size(1)}, projected.options()), c = h;
  std::vector<at::Tensor> outputs, cells;
  for (std::int64_t t = 0; t < projected.size(1); ++t) {
    auto const gate = at::addmm(projected.select(1, t), h, turned).chunk(4, 1);
    c = gate[1].sigmoid() * c + gate[0].sigmoid() * gate[2].tanh();
    h = gate[3].sigmoid() * c.tanh();
    outputs.push_back(h), cells.push_back(c);
  }
  return {at::stack(outputs, 1), at::stack(cells, 1)};
}

struct lstm_function : redco::detail::recorded_function<lstm_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& projected,
                            at::Tensor const& weight) {
    auto const [outputs, cells] = lstm_steps(projected, weight);
    ctx->save_for_backward({projected, weight, outputs, cells});
    return outputs;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto const saved = ctx->get_saved_variables();
    at::Tensor const &projected = saved[0], &weight = saved[1], &outputs = saved[2], &cells = saved[3];
    if (at::GradMode::is_enabled())
      return composed_backward([](auto const& in) { return lstm_steps(in[0], in[1]).first; }, {projected, weight},
                               g[0]);
    at::Tensor const before = earlier_outputs(outputs);
    at::Tensor const gates = at::linear(before, weight).add_(projected);
    auto const all = gates.chunk(4, 2);
    all[0].sigmoid_(), all[1].sigmoid_(), all[2].tanh_(), all[3].sigmoid_();
    at::Tensor const of_gates = at::empty_like(gates);
    at::Tensor const zero = at::zeros_like(cells.select(1, 0));
    at::Tensor dh = zero, dc = zero;
    for (std::int64_t t = projected.size(1) - 1; t >= 0; --t) {
      at::Tensor const i = all[0].select(1, t), f = all[1].select(1, t), n = all[2].select(1, t),
                       o = all[3].select(1, t);
      at::Tensor const c = cells.select(1, t).tanh(), c_before = t > 0 ? cells.select(1, t - 1) : zero;
      dh = dh + g[0].select(1, t);
      dc = dc + dh * o * (1 - c * c);
      at::Tensor const step =
          at::cat({dc * n * i * (1 - i), dc * c_before * f * (1 - f), dc * i * (1 - n * n), dh * c * o * (1 - o)}, 1);
      of_gates.select(1, t).copy_(step);
      dh = step.mm(weight);
      dc = dc * f;
    }
    return {of_gates, weight_gradient(of_gates, before)};
  }
};

}  // namespace detail

REDCO_INLINE at::Tensor lstm(at::Tensor const& projected, at::Tensor const& weight) {
  return detail::lstm_function::apply(projected, weight);
}

}  // namespace redco::kernel
