#pragma once

#include <redco/nn/module.hpp>
#include <redco/nn/side_products.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/comm/lane.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>

#include <type_traits>

namespace redco::detail {

/// What has entered a column-parallel layer, and its product with the layer's weight.
struct entered_product {
  at::Tensor whole;  ///< in the graph, for who reads it too
  at::Tensor product;
};

/// x enters, and kernel::linear of it. In backward the gradient of a run of rows, with what others that read `whole` owe, is summed over
/// the shards while that of the next is made, and then those of weight and bias (Megatron-LM's asynchronous all-reduce, Narayanan et al.
/// 2021, in runs). Differentiable at any order. The lane outlives the graph.
entered_product product_beside(tensor<replicated> const& x, at::Tensor const& weight, at::Tensor const& bias,
                               group& shards, comm::lane& lane);

/// The same of this rank's tokens, which divide by the shards: a run of examples is joined while the one before it is multiplied.
/// Saves the weight and, where it is not frozen, what is joined.
entered_product product_beside(tensor<token_split> const& x, at::Tensor const& weight, at::Tensor const& bias,
                               group& shards, comm::lane& lane);

/// Whether there is something to pass beside the product of x.
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

/// x W^T + b, and what side products add, of a column-parallel layer that x enters.
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
