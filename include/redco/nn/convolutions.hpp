#pragma once

#include <redco/nn/module.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/kernel/pools.hpp>
#include <redco/layer/convolutions.hpp>
#include <redco/layer/pools.hpp>

#include <cstdint>

namespace redco {

template <auto In, auto Out, auto Kernel, auto Stride, auto Padding, auto Bias, class X>
struct module<conv2d<In, Out, Kernel, Stride, Padding, Bias>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : weight(b.parameter("weight")), stride(b.template extent<Stride>()), padding(b.template extent<Padding>()) {
    if (b.template extent<Bias>()) bias = b.parameter("bias");
  }

  template <class Context>
  tensor<shape::replicated> operator()(tensor<X> const& x, Context const& ctx) const {
    return at::conv2d(x.local(), ctx[weight], ctx[bias], {stride, stride}, {padding, padding});
  }

  parameter weight, bias;
  std::int64_t stride, padding;
};

template <auto In, auto Out, auto Kernel, auto Stride, auto Padding, auto More, auto Bias, class X>
struct module<conv_transpose2d<In, Out, Kernel, Stride, Padding, More, Bias>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : weight(b.parameter("weight")),
        stride(b.template extent<Stride>()),
        padding(b.template extent<Padding>()),
        more(b.template extent<More>()) {
    if (b.template extent<Bias>()) bias = b.parameter("bias");
  }

  template <class Context>
  tensor<shape::replicated> operator()(tensor<X> const& x, Context const& ctx) const {
    return at::conv_transpose2d(x.local(), ctx[weight], ctx[bias], {stride, stride}, {padding, padding}, {more, more});
  }

  parameter weight, bias;
  std::int64_t stride, padding, more;
};

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

template <auto Channels, auto Rows, auto Down, auto Columns, class X>
struct module<layers::image_of_patches<Channels, Rows, Down, Columns>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : channels(b.template extent<Channels>()),
        rows(b.template extent<Rows>()),
        columns(b.template extent<Columns>()),
        down(b.template extent<Down>()) {}

  template <class Context>
  tensor<shape::replicated> operator()(tensor<X> const& x, Context const&) const {
    // [B, patches down, patches across, C, rows, columns]
    at::Tensor const patches = x.local().unflatten(2, {channels, rows, columns}).unflatten(1, {down, -1});
    return patches.permute({0, 3, 1, 4, 2, 5}).flatten(4).flatten(2, 3);
  }

  std::int64_t channels, rows, columns, down;
};

template <auto Kernel, class X>
struct module<max_pool<Kernel>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) : kernel_size(b.template extent<Kernel>()) {}

  template <class Context>
  tensor<shape::replicated> operator()(tensor<X> const& x, Context const&) const {
    return kernel::max_pool(x.local(), kernel_size);
  }

  std::int64_t kernel_size;
};

template <auto Kernel, class X>
struct module<average_pool<Kernel>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) : kernel_size(b.template extent<Kernel>()) {}

  template <class Context>
  tensor<shape::replicated> operator()(tensor<X> const& x, Context const&) const {
    return at::avg_pool2d(x.local(), {kernel_size, kernel_size});
  }

  std::int64_t kernel_size;
};

}  // namespace redco
