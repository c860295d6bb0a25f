#pragma once

#include <redco/nn/detail/entered_product.hpp>
#include <redco/nn/detail/joined_linear.hpp>
#include <redco/nn/low_rank.hpp>
#include <redco/nn/module.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/comm/lane.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>

#include <type_traits>

namespace redco::detail {

/// x enters, and kernel::linear of it. In backward `sums`, whose ranks are the shards, sums the gradient of x while those of weight and
/// bias are computed (Megatron-LM's asynchronous all-reduce; Narayanan et al. 2021). The same bits as without. Differentiable at any
/// order. The lane outlives the graph.
entered_product overlapped_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias, group& shards,
                                  comm::lane& sums);

/// x on its way into a column-parallel layer, and its product there; what has entered is itself. `adapters` read it too.
template <layout X, class Context>
entered_product entering_linear(tensor<X> const& x, at::Tensor const& weight, at::Tensor const& bias,
                                low_rank const& adapters, Context const& ctx) {
  if constexpr (std::is_same_v<X, replicated>) {
    if (ctx.pass().beside_shards(x.local()) && at::GradMode::is_enabled() && x.local().requires_grad())
      return overlapped_linear(x.local(), weight, bias, ctx.tp(), *ctx.pass().shard_lane);
  } else if constexpr (is_token_split<X>) {
    if (ctx.pass().beside_shards(x.local()) && adapters.empty() && x.tokens() % ctx.tp().size() == 0)
      return joined_linear(x, weight, bias, ctx.tp(), *ctx.pass().shard_lane);
  }
  at::Tensor const whole = entering(x, ctx.tp()).local();
  return {whole, kernel::linear(whole, weight, bias)};
}

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/nn/detail/entering_linear.inl.hpp>
#endif
