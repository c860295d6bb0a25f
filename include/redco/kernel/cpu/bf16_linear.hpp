#pragma once

#include <redco/kernel/cpu/bf16_product.hpp>
#include <redco/kernel/product.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <optional>

namespace redco::kernel::cpu {

/// The differentiable function y = x W^T + b in bf16. Computed by the bf16 implementation that this
/// process uses (see bf16_path). Autograd saves x and W.
struct bf16_linear : tensors::recorded_function<bf16_linear> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x_any, at::Tensor const& weight,
                            std::optional<at::Tensor> const& bias) {
    at::Tensor const x = x_any.contiguous();
    ctx->save_for_backward({x, weight});
    ctx->saved_data["wants_x"] = x_any.requires_grad();
    ctx->saved_data["wants_weight"] = weight.requires_grad();
    ctx->saved_data["wants_bias"] = bias && bias->requires_grad();
    auto sizes = x.sizes().vec();
    sizes.back() = weight.size(0);
    auto const y = at::empty(sizes, x.options());
    bf16_product(y.view({-1, weight.size(0)}), x.view({-1, weight.size(1)}), weight.t(), bias.value_or(at::Tensor()));
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& gradients) {
    auto const saved = ctx->get_saved_variables();
    auto const &x = saved[0], &weight = saved[1];
    std::int64_t const in = weight.size(1), out = weight.size(0);
    at::Tensor const g = gradients[0].contiguous().view({-1, out}), rows = x.view({-1, in});
    at::Tensor dx, dw, db;
    if (ctx->saved_data["wants_x"].toBool()) dx = kernel::product(g, weight).view(x.sizes());
    if (ctx->saved_data["wants_weight"].toBool()) dw = kernel::product(g.t(), rows);
    if (ctx->saved_data["wants_bias"].toBool()) db = g.sum(at::IntArrayRef{0});
    return {dx, dw, db};
  }
};

}  // namespace redco::kernel::cpu
