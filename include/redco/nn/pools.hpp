#pragma once

#include <redco/nn/module.hpp>
#include <redco/layer/pools.hpp>

#include <cstdint>

namespace redco {

template <auto Kernel, class X>
struct module<max_pool<Kernel>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) : kernel_size(b.template extent<Kernel>()) {}

  template <class Context>
  tensor<shape::replicated> operator()(tensor<X> const& x, Context const&) const {
    return at::max_pool2d(x.local(), {kernel_size, kernel_size});
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
