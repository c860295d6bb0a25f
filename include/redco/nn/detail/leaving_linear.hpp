#pragma once

#include <redco/nn/pass.hpp>
#include <redco/nn/pending_sum.hpp>
#include <redco/nn/side_products.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>

#include <utility>
#include <vector>

namespace redco::nn::detail {

/// Returns x [..., In] W^T + b of a row-parallel layer, with its side products (such as low-rank
/// adapters), as a sum over the shards that is not reduced yet. The replicated bias b is added
/// once, after the reduction. If communication can overlap the product, leaves the product to the
/// reduction.
template <class Context>
pending_sum leaving_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                           side_products const& sides, Context const& ctx) {
  if (ctx.tp().size() == 1) return tensor<shape::partial>(sides.beside(kernel::linear(x, weight, bias), x, ctx));
  std::vector<at::Tensor> addends;
  if (bias.defined()) addends.push_back(bias);
  if (ctx.pass().beside_shards(x.numel() / x.size(-1), weight.size(0) * x.element_size())) {
    pending_sum::products all{{x}, {weight}};
    for (product_of_halves const& one : sides.products(x, ctx)) {
      all.x.push_back(one.narrow);
      all.weights.push_back(one.wide);
    }
    return pending_sum(std::move(all), std::move(addends));
  }
  return tensor<shape::partial>(sides.beside(kernel::linear(x, weight), x, ctx), std::move(addends));
}

}  // namespace redco::nn::detail
