#pragma once

#include <redco/nn/module.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/layer/patch_embedding.hpp>

#include <cstdint>

namespace redco {

template <auto Channels, auto Rows, auto Width, auto Columns, class X>
struct module<patch_embedding<Channels, Rows, Width, Columns>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : weight(b.parameter("weight")),
        bias(b.parameter("bias")),
        patch_rows(b.template extent<Rows>()),
        patch_columns(b.template extent<Columns>()) {}

  template <class Context>
  tensor<shape::replicated> operator()(tensor<X> const& x, Context const& ctx) const {
    // [B, C, H / rows, rows, W / columns, columns]
    at::Tensor const patches = x.local().unflatten(3, {-1, patch_columns}).unflatten(2, {-1, patch_rows});
    at::Tensor const rows = patches.permute({0, 2, 4, 1, 3, 5}).flatten(3).flatten(1, 2);
    return kernel::linear(rows, ctx[weight].flatten(1), ctx[bias]);
  }

  parameter weight, bias;
  std::int64_t patch_rows, patch_columns;
};

}  // namespace redco
