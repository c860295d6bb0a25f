#pragma once

#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/kernel/composed/swiglu.hpp>
#include <redco/kernel/cuda/activation_source.hpp>
#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/kernel_memory.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::kernel::cuda {

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
