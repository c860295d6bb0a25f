#pragma once

#include <redco/nn/module.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/comm/lane.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>

#include <type_traits>

namespace redco::detail {

/// What has entered a column-parallel layer, and its product with the layer's weight.
struct entered_product {
  at::Tensor whole, product;
};

/// x enters, and kernel::linear of it. In backward `sums`, whose ranks are the shards, sums the gradient of x while those of weight and
/// bias are computed (Megatron-LM's asynchronous all-reduce; Narayanan et al. 2021). The same bits as without. Differentiable at any
/// order. The lane outlives the graph.
entered_product overlapped_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias, group& shards,
                                  comm::lane& sums);

/// Whether there is something to gain: few rows take other kernels where nobody differentiates them.
inline bool overlaps(at::Tensor const& x, comm::lane const* sums) {
  return sums != nullptr && at::GradMode::is_enabled() && x.requires_grad() && x.numel() > 32 * x.size(-1);
}

/// x on its way into a column-parallel layer, and its product there; what has entered is itself.
template <layout X, class Context>
entered_product entering_linear(tensor<X> const& x, at::Tensor const& weight, at::Tensor const& bias,
                                Context const& ctx) {
  if constexpr (std::is_same_v<X, replicated>)
    if (overlaps(x.local(), ctx.pass().sums_of_entered))
      return overlapped_linear(x.local(), weight, bias, ctx.tp(), *ctx.pass().sums_of_entered);
  at::Tensor const whole = entering(x, ctx.tp()).local();
  return {whole, kernel::linear(whole, weight, bias)};
}

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/nn/detail/entering_linear.inl.hpp>
#endif
