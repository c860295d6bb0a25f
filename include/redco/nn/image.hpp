#pragma once

#include <redco/layer/conv2d.hpp>
#include <redco/layer/max_pool.hpp>
#include <redco/nn/module.hpp>

#include <cstdint>

namespace redco {

template <auto In, auto Out, auto Kernel, auto Stride, auto Padding, auto Bias, class X>
struct module<conv2d<In, Out, Kernel, Stride, Padding, Bias>, X> {
  template <class Config>
  explicit module(builder<Config>& b)
      : weight(b.parameter("weight")), stride(b.template extent<Stride>()), padding(b.template extent<Padding>()) {
    if (b.template extent<Bias>()) bias = b.parameter("bias");
  }

  template <class Context>
  tensor<replicated> operator()(tensor<X> const& x, Context const&) const {
    return at::conv2d(x.local(), weight, bias, {stride, stride}, {padding, padding});
  }

  at::Tensor weight, bias;
  std::int64_t stride, padding;
};

template <auto Kernel, class X>
struct module<max_pool<Kernel>, X> {
  template <class Config>
  explicit module(builder<Config>& b) : kernel_size(b.template extent<Kernel>()) {}

  template <class Context>
  tensor<replicated> operator()(tensor<X> const& x, Context const&) const {
    return at::max_pool2d(x.local(), {kernel_size, kernel_size});
  }

  std::int64_t kernel_size;
};

}  // namespace redco
