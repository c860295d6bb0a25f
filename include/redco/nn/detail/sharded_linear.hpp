#pragma once

#include <redco/nn/module.hpp>
#include <redco/nn/pass.hpp>
#include <redco/nn/pending_sum.hpp>
#include <redco/nn/side_products.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/kernel/parameter_uses.hpp>
#include <redco/comm/lane.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>

#include <type_traits>
#include <utility>
#include <vector>

namespace redco::nn::detail {

/// A pair of results of a column-parallel layer: its complete input (tokens of all shards) and the
/// product of this input with the layer's weight.
struct entered_product {
  /// Complete input of the layer with an autograd history, so that side products can read it too.
  at::Tensor whole;
  at::Tensor product;
};

/// Returns x W^T + b of a column-parallel layer for a replicated input. Backward computes the
/// gradient of `x` in chunks of rows and sums each chunk over the shards while it computes the
/// next, as Megatron-LM's asynchronous all-reduce (Narayanan et al. 2021). The sum includes the
/// gradients of other readers of `whole`. Differentiable to any order. The lane (communication
/// thread) must outlive the autograd graph.
entered_product overlapped_product(tensor<shape::replicated> const& x, at::Tensor const& weight, at::Tensor const& bias,
                                   comm::group& shards, comm::lane& lane);

/// Returns x W^T + b of a column-parallel layer for an input split by tokens. Gathers one chunk of
/// examples from all shards while it multiplies the chunk before. The number of tokens T must be a
/// multiple of the number of shards. Saves the gathered input for backward unless the weight is
/// frozen.
entered_product overlapped_product(tensor<shape::token_split> const& x, at::Tensor const& weight,
                                   at::Tensor const& bias, comm::group& shards, comm::lane& lane);

/// Returns true if communication between the shards can overlap the matrix product of `x`. For a
/// replicated `x`, this is the gradient sum in backward. For split tokens, this is the gather in
/// forward.
inline bool can_overlap(tensor<shape::replicated> const& x, pass const& in) {
  at::Tensor const& all = x.local();
  return at::GradMode::is_enabled() && all.requires_grad() &&
         in.is_worth_overlapping(all.numel() / all.size(-1), all.size(-1) * all.element_size());
}
inline bool can_overlap(tensor<shape::token_split> const& x, pass const& in) {
  at::Tensor const& own = x.local();
  return x.tokens() % in.tp->size() == 0 &&
         in.is_worth_overlapping(own.size(0) * x.tokens(), own.size(-1) * own.element_size());
}

/// Returns x W^T + b plus side products (such as low-rank adapters) of a column-parallel layer.
/// First enters `x`: gathers split tokens, or sums the gradient of `x` in backward. This
/// communication overlaps the product if can_overlap() is true.
template <shape::layout X, class Context>
at::Tensor entering_linear(tensor<X> const& x, at::Tensor const& weight, at::Tensor const& bias,
                           side_products const& sides, Context const& ctx) {
  entered_product const made = [&]() -> entered_product {
    if constexpr (shape::is_complete<X>)
      if (can_overlap(x, ctx.pass())) return overlapped_product(x, weight, bias, ctx.tp(), *ctx.pass().shard_lane);
    at::Tensor const whole = entering(x, ctx.tp()).local();
    return {whole, kernel::linear(whole, weight, bias)};
  }();
  return sides.added_to(made.product, made.whole, ctx);
}

/// Returns x [..., In] W^T + b of a row-parallel layer, with its side products (such as low-rank
/// adapters), as a sum over the shards that is not reduced yet. The replicated bias b is added
/// once, after the reduction. If communication can overlap the product, leaves the product to the
/// reduction.
template <class Context>
pending_sum leaving_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                           side_products const& sides, Context const& ctx) {
  if (ctx.tp().size() == 1) return tensor<shape::partial>(sides.added_to(kernel::linear(x, weight, bias), x, ctx));
  std::vector<at::Tensor> addends;
  if (bias.defined()) addends.push_back(kernel::per_example(bias, bias, x.size(0), x.dim()));
  if (ctx.pass().is_worth_overlapping(x.numel() / x.size(-1), weight.size(0) * x.element_size())) {
    pending_sum::products all{{x}, {weight}};
    for (product_of_halves const& one : sides.products(x, ctx)) {
      all.x.push_back(one.narrow);
      all.weights.push_back(one.wide);
    }
    return pending_sum(std::move(all), std::move(addends));
  }
  return tensor<shape::partial>(sides.added_to(kernel::linear(x, weight), x, ctx), std::move(addends));
}

}  // namespace redco::nn::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/detail/sharded_linear.inl.hpp>
#endif
