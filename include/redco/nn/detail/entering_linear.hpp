#pragma once

#include <redco/nn/module.hpp>
#include <redco/nn/side_products.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/comm/lane.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>

#include <type_traits>

namespace redco::detail {

/// The results of a column-parallel product: the complete input and its product with the layer's
/// weight.
struct entered_product {
  /// Complete input, recorded by autograd so that side products can read it too.
  at::Tensor whole;
  at::Tensor product;
};

/// Enters `x` into column-parallel layers and multiplies it by the weight. Backward computes the
/// input gradient in runs of rows, and sums each run over the shards while the next is computed.
/// Gradients of other readers of `whole` are included. After Megatron-LM's asynchronous all-reduce
/// (Narayanan et al. 2021), in runs. Differentiable at any order. The lane must outlive the graph.
entered_product product_beside(tensor<replicated> const& x, at::Tensor const& weight, at::Tensor const& bias,
                               group& shards, comm::lane& lane);

/// Gathers this rank's tokens `x` into complete examples and multiplies them by the weight. One run
/// of examples is gathered while the run before it is multiplied. T must be a multiple of the
/// number of shards. Saves the weight and, if the weight is not frozen, the gathered input.
entered_product product_beside(tensor<token_split> const& x, at::Tensor const& weight, at::Tensor const& bias,
                               group& shards, comm::lane& lane);

/// Returns true if an exchange between the shards can overlap the product of `x`: in backward for a
/// replicated `x`, in forward for split tokens.
inline bool passes_beside(tensor<replicated> const& x, pass const& in) {
  at::Tensor const& all = x.local();
  return at::GradMode::is_enabled() && all.requires_grad() &&
         in.beside_shards(all.numel() / all.size(-1), all.size(-1) * all.element_size());
}
inline bool passes_beside(tensor<token_split> const& x, pass const& in) {
  at::Tensor const& own = x.local();
  return x.tokens() % in.tp->size() == 0 &&
         in.beside_shards(own.size(0) * x.tokens(), own.size(-1) * own.element_size());
}

/// Returns x W^T + b plus side products, for a column-parallel layer. `x` enters the layer first;
/// the exchange overlaps the product if passes_beside() is true.
template <layout X, class Context>
at::Tensor entering_linear(tensor<X> const& x, at::Tensor const& weight, at::Tensor const& bias,
                           side_products const& sides, Context const& ctx) {
  entered_product const made = [&]() -> entered_product {
    if constexpr (is_at_rest<X>)
      if (passes_beside(x, ctx.pass())) return product_beside(x, weight, bias, ctx.tp(), *ctx.pass().shard_lane);
    at::Tensor const whole = entering(x, ctx.tp()).local();
    return {whole, kernel::linear(whole, weight, bias)};
  }();
  return sides.beside(made.product, made.whole, ctx);
}

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/nn/detail/entering_linear.inl.hpp>
#endif
