#pragma once

#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/kernel/composed/gru.hpp>
#include <redco/kernel/cpu/earlier_outputs.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/save_as.hpp>

#include <cstdint>

namespace redco::kernel::cpu {

struct gru_function : tensors::recorded_function<gru_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& projected,
                            at::Tensor const& weight, at::Tensor const& bias) {
    at::Tensor const outputs = composed::gru(projected, weight, bias);
    ctx->save_for_backward({projected, weight, bias, tensors::save_as("output", outputs)});
    return outputs;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto const saved = ctx->get_saved_variables();
    at::Tensor const &projected = saved[0], &weight = saved[1], &bias = saved[2], &outputs = saved[3];
    if (at::GradMode::is_enabled())
      return composed::gradients_of([](auto const& in) { return composed::gru(in[0], in[1], in[2]); },
                                    {projected, weight, bias}, g[0]);
    at::Tensor const before = earlier_outputs(outputs), recurrent = at::linear(before, weight, bias);
    auto const p = projected.chunk(3, 2), q = recurrent.chunk(3, 2);
    at::Tensor const reset = (p[0] + q[0]).sigmoid_(), update = (p[1] + q[1]).sigmoid_();
    at::Tensor const fresh = (p[2] + reset * q[2]).tanh_();
    at::Tensor const of_projected = at::empty_like(projected), of_recurrent = at::empty_like(projected);
    at::Tensor dh = at::zeros_like(outputs.select(1, 0));
    for (std::int64_t t = projected.size(1) - 1; t >= 0; --t) {
      at::Tensor const r = reset.select(1, t), z = update.select(1, t), n = fresh.select(1, t);
      dh = dh + g[0].select(1, t);
      at::Tensor const dn = dh * (1 - z) * (1 - n * n);
      at::Tensor const dr = dn * q[2].select(1, t) * r * (1 - r), dz = dh * (before.select(1, t) - n) * z * (1 - z);
      at::Tensor const step = at::cat({dr, dz, dn * r}, 1);
      of_projected.select(1, t).copy_(at::cat({dr, dz, dn}, 1));
      of_recurrent.select(1, t).copy_(step);
      dh = dh * z + step.mm(weight);
    }
    return {of_projected, weight_gradient(of_recurrent, before), of_recurrent.sum(at::IntArrayRef{0, 1})};
  }
};

inline at::Tensor gru(at::Tensor const& projected, at::Tensor const& weight, at::Tensor const& bias) {
  return gru_function::apply(projected, weight, bias);
}

}  // namespace redco::kernel::cpu
