#pragma once

#include <redco/kernel/activations.hpp>
#include <redco/kernel/composed/activations.hpp>
#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/kernel/cuda/activation_source.hpp>
#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::kernel::cuda {

/// An activation function of the CUDA kernel. The kernel knows each function by this enumerator's
/// number.
enum class activation_form : int {
  gelu_tanh = static_cast<int>(gelu_form::tanh),
  gelu_erf = static_cast<int>(gelu_form::erf),
  gelu_logistic = static_cast<int>(gelu_form::logistic),
  silu = 3
};

struct activation_function : tensors::recorded_function<activation_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& any, activation_form form) {
    ctx->save_for_backward({any});
    ctx->saved_data["form"] = static_cast<std::int64_t>(form);
    auto const x = any.contiguous(), y = at::empty_like(x);
    tensors::launch_kernel(activation_source, "activation", x, tensors::blocks_for(x.numel()),
                           tensors::read_by_kernel(x), tensors::written_by_kernel(y), x.numel(), form);
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& gradients) {
    at::Tensor const saved = ctx->get_saved_variables()[0];
    auto const form = static_cast<activation_form>(ctx->saved_data["form"].toInt());
    if (at::GradMode::is_enabled()) {
      auto const reference = [&](auto const& in) {
        return form == activation_form::silu ? at::silu(in[0]) : composed::gelu(in[0], static_cast<gelu_form>(form));
      };
      return {composed::gradients_of(reference, {saved}, gradients[0])[0], {}};
    }
    auto const x = saved.contiguous(), g = gradients[0].contiguous(), dx = at::empty_like(x);
    tensors::launch_kernel(activation_source, "activation_gradient", x, tensors::blocks_for(x.numel()),
                           tensors::read_by_kernel(x), tensors::read_by_kernel(g), tensors::written_by_kernel(dx),
                           x.numel(), form);
    return {dx, {}};
  }
};

inline at::Tensor gelu(at::Tensor const& x, gelu_form form) {
  return activation_function::apply(x, static_cast<activation_form>(form));
}

inline at::Tensor silu(at::Tensor const& x) { return activation_function::apply(x, activation_form::silu); }

struct swiglu_function : tensors::recorded_function<swiglu_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& any) {
    ctx->save_for_backward({any});
    auto const both = any.contiguous();
    auto sizes = both.sizes().vec();
    sizes.back() /= 2;
    auto const y = at::empty(sizes, both.options());
    std::int64_t const n = sizes.back(), rows = n == 0 ? 0 : y.numel() / n;
    tensors::launch_kernel(activation_source, "swiglu_rows", both, tensors::blocks_for(y.numel()),
                           tensors::read_by_kernel(both), tensors::written_by_kernel(y), rows, n);
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& gradients) {
    at::Tensor const saved = ctx->get_saved_variables()[0];
    if (at::GradMode::is_enabled())
      return composed::gradients_of([](auto const& in) { return composed::swiglu(in[0]); }, {saved}, gradients[0]);
    auto const both = saved.contiguous(), g = gradients[0].contiguous(), dboth = at::empty_like(both);
    std::int64_t const n = g.size(-1), rows = n == 0 ? 0 : g.numel() / n;
    tensors::launch_kernel(activation_source, "swiglu_gradient", both, tensors::blocks_for(g.numel()),
                           tensors::read_by_kernel(both), tensors::read_by_kernel(g), tensors::written_by_kernel(dboth),
                           rows, n);
    return {dboth};
  }
};

inline at::Tensor swiglu(at::Tensor const& both) { return swiglu_function::apply(both); }

}  // namespace redco::kernel::cuda
