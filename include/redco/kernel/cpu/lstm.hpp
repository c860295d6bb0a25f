#pragma once

#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/kernel/composed/lstm.hpp>
#include <redco/kernel/cpu/earlier_outputs.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/save_as.hpp>

#include <cstdint>

namespace redco::kernel::cpu {

struct lstm_function : tensors::recorded_function<lstm_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& projected,
                            at::Tensor const& weight) {
    auto const [outputs, cells] = composed::lstm(projected, weight);
    ctx->save_for_backward({projected, weight, tensors::save_as("output", outputs), tensors::save_as("cells", cells)});
    return outputs;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto const saved = ctx->get_saved_variables();
    at::Tensor const &projected = saved[0], &weight = saved[1], &outputs = saved[2], &cells = saved[3];
    if (at::GradMode::is_enabled())
      return composed::gradients_of([](auto const& in) { return composed::lstm(in[0], in[1]).first; },
                                    {projected, weight}, g[0]);
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

inline at::Tensor lstm(at::Tensor const& projected, at::Tensor const& weight) {
  return lstm_function::apply(projected, weight);
}

}  // namespace redco::kernel::cpu
