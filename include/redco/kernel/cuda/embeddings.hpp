#pragma once

#include <redco/kernel/composed/embeddings.hpp>
#include <redco/kernel/cuda/rotate_source.hpp>
#include <redco/kernel/embeddings.hpp>
#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/layer/attention_traits.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace redco::kernel::cuda {

/// Parameters of rotary positions as the argument of the CUDA kernel.
struct kernel_rotary_parameters {
  std::int64_t batch, rows, batch_stride, row_stride, heads, head_dim, dims, first;
  int neighbours, positions_of_each_example;
  float sign, amplitude;
  std::array<double, 256> frequencies;
};

/// Rotates x in place by the angles of its positions if `sign` is 1, and back if it is -1.
inline void rotate_in_place(at::Tensor const& x, rotation const& by, at::Tensor const& some_positions, double sign) {
  at::Tensor const positions = some_positions.defined() ? some_positions.to(x.device()).contiguous() : at::Tensor();
  std::int64_t const batch = x.size(0), rows = x.size(1);
  kernel_rotary_parameters parameters{batch,
                                      rows,
                                      x.stride(0),
                                      x.stride(1),
                                      by.heads,
                                      by.head_dim,
                                      by.angles.dims,
                                      by.first,
                                      by.angles.pairs == layers::rotary_pairs::neighbours,
                                      positions.defined() && positions.numel() != rows,
                                      static_cast<float>(sign),
                                      static_cast<float>(by.angles.scaling.amplitude),
                                      {}};
  std::ranges::copy(composed::frequencies(by.angles, by.first + rows), parameters.frequencies.begin());
  tensors::launch_kernel(rotate_source, "rotate_rows", x, tensors::blocks_for(batch * rows * (by.angles.dims / 2)),
                         tensors::written_by_kernel(x), tensors::read_by_kernel(positions), parameters);
}

struct rotation_state : torch::CustomClassHolder {
  rotation_state(rotation const& r, double s) : by(r), sign(s) {}
  rotation by;
  double sign;
};

/// The differentiable function of rotary positions; rotates x in place. Backward rotates the
/// gradient back by the same angles, in place if no other code holds the gradient.
struct rotate_function : tensors::recorded_function<rotate_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x,
                            std::optional<at::Tensor> const& positions, rotation const& by, double sign) {
    rotate_in_place(x, by, positions.value_or(at::Tensor()), sign);
    ctx->mark_dirty({x});
    ctx->save_for_backward({positions.value_or(at::Tensor())});
    ctx->saved_data["rotation"] = c10::IValue::make_capsule(c10::make_intrusive<rotation_state>(by, sign));
    return x;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& gradients) {
    auto const positions = ctx->get_saved_variables()[0];
    auto const& state = static_cast<rotation_state const&>(*ctx->saved_data.at("rotation").toCapsule());
    at::Tensor const& gradient = gradients[0];
    if (at::GradMode::is_enabled())
      return {rotate_function::apply(gradient.clone(), std::optional(positions), state.by, -state.sign), {}, {}, {}};
    bool const ours = gradient.use_count() == 1 && gradient.is_contiguous();
    at::Tensor const result = ours ? gradient : gradient.clone(at::MemoryFormat::Contiguous);
    rotate_in_place(result, state.by, positions, -state.sign);
    return {result, {}, {}, {}};
  }
};

inline at::Tensor rotate(at::Tensor const& x, rotation const& by, at::Tensor const& positions,
                         at::Tensor const& lengths) {
  // The kernel's parameters have room for 256 pairs, with one frequency each.
  if (by.angles.dims > 512 || lengths.defined()) return composed::rotate(x, by, positions, lengths);
  return rotate_function::apply(x, std::optional(positions), by, 1.0);
}

}  // namespace redco::kernel::cuda
