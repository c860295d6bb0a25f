#pragma once

#include <redco/kernel/composed/experts.hpp>
#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <vector>

namespace redco::kernel::detail {

/// The differentiable function kernel::grouped_linear, for the code of each device. `Device` has
/// the static functions `products(x, weights, offsets)`, which returns the result, and
/// `gradients(saved, offsets, g)`, which returns the gradients of x and the weights, both contained
/// in `saved`, for a contiguous gradient g. Gradients that are not needed are undefined.
template <class Device>
struct grouped_function : tensors::recorded_function<Device> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x, at::TensorList weights,
                            std::vector<std::int64_t> const& offsets) {
    torch::autograd::variable_list saved{x};
    saved.insert(saved.end(), weights.begin(), weights.end());
    ctx->save_for_backward(saved);
    ctx->saved_data["offsets"] = offsets;
    return Device::products(x, weights, offsets);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& gradients) {
    auto const saved = ctx->get_saved_variables();
    std::vector<std::int64_t> const offsets = ctx->saved_data["offsets"].toIntVector();
    torch::autograd::variable_list result;
    if (at::GradMode::is_enabled()) {
      result = composed::gradients_of(
          [&](auto const& in) {
            return composed::grouped_linear(in[0], {in.begin() + 1, in.end()}, offsets);
          },
          saved, gradients[0]);
    } else {
      result = Device::gradients(saved, offsets, gradients[0].contiguous());
    }
    result.emplace_back();
    return result;
  }
};

}  // namespace redco::kernel::detail
