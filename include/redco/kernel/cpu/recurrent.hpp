#pragma once

#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/kernel/composed/recurrent.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::kernel::cpu {

/// Shifts the outputs [B, T, H] of a recurrent layer by one step. The result has zeros at step 0,
/// and then the outputs of steps 0 to T - 2: the previous output that each step used.
inline at::Tensor earlier_outputs(at::Tensor const& outputs) {
  return at::constant_pad_nd(outputs.narrow(1, 0, outputs.size(1) - 1), {0, 0, 1, 0});
}

/// Returns the gradient of the weight W in y = x W^T, summed over examples and steps. `of_y` is the
/// gradient of y.
inline at::Tensor weight_gradient(at::Tensor const& of_y, at::Tensor const& x) {
  return of_y.flatten(0, 1).t().mm(x.flatten(0, 1));
}

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
