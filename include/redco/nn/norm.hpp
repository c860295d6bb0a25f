#pragma once

#include <redco/layer/layer_norm.hpp>
#include <redco/layer/rms_norm.hpp>
#include <redco/nn/kernel/layer_norm.hpp>
#include <redco/nn/kernel/rms_norm.hpp>
#include <redco/nn/module.hpp>

namespace redco {

template <auto Width, auto Epsilon, class X>
struct module<layer_norm<Width, Epsilon>, X> {
  template <class Config>
  explicit module(builder<Config>& b)
      : weight(b.parameter("weight")),
        bias(b.parameter("bias")),
        epsilon(static_cast<double>(b.template extent<Epsilon>())) {}

  template <class Context>
  tensor<replicated> operator()(tensor<X> const& x, Context const&) const {
    return kernel::layer_norm(x.local(), weight, bias, epsilon);
  }

  at::Tensor weight, bias;
  double epsilon;
};

template <auto Width, auto Epsilon, class X>
struct module<rms_norm<Width, Epsilon>, X> {
  template <class Config>
  explicit module(builder<Config>& b)
      : weight(b.parameter("weight")), epsilon(static_cast<double>(b.template extent<Epsilon>())) {}

  template <class Context>
  tensor<replicated> operator()(tensor<X> const& x, Context const&) const {
    return kernel::rms_norm(x.local(), weight, epsilon);
  }

  at::Tensor weight;
  double epsilon;
};

}  // namespace redco
