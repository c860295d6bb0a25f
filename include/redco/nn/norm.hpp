#pragma once

#include <redco/nn/module.hpp>
#include <redco/kernel/layer_norm.hpp>
#include <redco/kernel/rms_norm.hpp>
#include <redco/layer/layer_norm.hpp>
#include <redco/layer/rms_norm.hpp>

namespace redco {

template <auto Width, auto Epsilon, class X>
struct module<layer_norm<Width, Epsilon>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : weight(b.parameter("weight")),
        bias(b.parameter("bias")),
        epsilon(static_cast<double>(b.template extent<Epsilon>())) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const& ctx) const {
    return x.like(kernel::layer_norm(x.local(), nn::shared_parameter<X>(ctx[weight], ctx.tp()),
                                     nn::shared_parameter<X>(ctx[bias], ctx.tp()), epsilon));
  }

  parameter weight, bias;
  double epsilon;
};

template <auto Width, auto Epsilon, class X>
struct module<rms_norm<Width, Epsilon>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : weight(b.parameter("weight")), epsilon(static_cast<double>(b.template extent<Epsilon>())) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const& ctx) const {
    return x.like(kernel::rms_norm(x.local(), nn::shared_parameter<X>(ctx[weight], ctx.tp()), epsilon));
  }

  parameter weight;
  double epsilon;
};

}  // namespace redco
