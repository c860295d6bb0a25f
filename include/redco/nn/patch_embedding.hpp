#pragma once

#include <redco/nn/module.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/layer/patch_embedding.hpp>

#include <cstdint>

namespace redco {

template <auto Channels, auto Patch, auto Width, class X>
struct module<patch_embedding<Channels, Patch, Width>, X> {
  template <class Config>
  explicit module(builder<Config>& b)
      : weight(b.parameter("weight")), bias(b.parameter("bias")), patch(b.template extent<Patch>()) {}

  template <class Context>
  tensor<replicated> operator()(tensor<X> const& x, Context const& ctx) const {
    at::Tensor const squares = x.local().unflatten(3, {-1, patch}).unflatten(2, {-1, patch});  // B, C, H, p, W, p
    at::Tensor const rows = squares.permute({0, 2, 4, 1, 3, 5}).flatten(3).flatten(1, 2);
    return kernel::linear(rows, ctx[weight].flatten(1), ctx[bias]);
  }

  parameter weight, bias;
  std::int64_t patch;
};

}  // namespace redco
