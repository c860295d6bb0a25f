#pragma once

#include <redco/kernel/composed/dropout.hpp>
#include <redco/kernel/cuda/dropout_source.hpp>
#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/random/stream.hpp>

#include <cstdint>

namespace redco::kernel::cuda {

/// Parameters of dropout as the argument of the CUDA kernel.
struct kernel_dropout_key {
  std::uint32_t k0, k1, threshold;
  float scale;
  std::int64_t row0, position0, feature0;
};

inline at::Tensor dropout_forward(at::Tensor const& any, composed::dropout_key const& key) {
  if (any.numel() == 0) return any.clone();
  auto const x = any.contiguous(), y = at::empty_like(x);
  std::int64_t const features = x.size(-1), rows = x.size(0), positions = x.numel() / (rows * features);
  tensors::launch_kernel(dropout_source, "dropout_rows", x, tensors::blocks_for(x.numel() / 4 + 2 * rows * positions),
                         tensors::read_by_kernel(x), tensors::written_by_kernel(y), rows, positions, features,
                         kernel_dropout_key{key.numbers.k0, key.numbers.k1, key.threshold(),
                                            static_cast<float>(key.scale()), key.row0, key.position0, key.feature0});
  return y;
}

inline at::Tensor dropout(at::Tensor const& x, composed::dropout_key const& key);

struct dropout_state : torch::CustomClassHolder {
  explicit dropout_state(composed::dropout_key const& k) : key(k) {}
  composed::dropout_key key;
};

struct dropout_function : tensors::recorded_function<dropout_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x,
                            composed::dropout_key const& key) {
    ctx->saved_data["key"] = c10::IValue::make_capsule(c10::make_intrusive<dropout_state>(key));
    return dropout_forward(x, key);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto const& state = static_cast<dropout_state const&>(*ctx->saved_data.at("key").toCapsule());
    return {cuda::dropout(g[0], state.key), at::Tensor()};
  }
};

/// Applies dropout on a CUDA device. Backward applies the same dropout to the gradient, because
/// dropout is linear in x. Under create_graph, autograd records that call.
inline at::Tensor dropout(at::Tensor const& x, composed::dropout_key const& key) {
  return dropout_function::apply(x, key);
}

}  // namespace redco::kernel::cuda
