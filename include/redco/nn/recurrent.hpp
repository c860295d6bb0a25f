#pragma once

#include <redco/nn/module.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/kernel/recurrent.hpp>
#include <redco/layer/recurrent.hpp>

namespace redco::nn::detail {

struct recurrent_parameters {
  parameter weight_ih, weight_hh, bias_ih, bias_hh;

  template <class Config>
  explicit recurrent_parameters(builder<Config>& b)
      : weight_ih(b.parameter("weight_ih")),
        weight_hh(b.parameter("weight_hh")),
        bias_ih(b.parameter("bias_ih")),
        bias_hh(b.parameter("bias_hh")) {}
};

}  // namespace redco::nn::detail

namespace redco {

template <auto In, auto Hidden, class X>
struct module<lstm<In, Hidden>, X> : nn::detail::recurrent_parameters {
  using nn::detail::recurrent_parameters::recurrent_parameters;

  template <class Context>
  tensor<shape::replicated> operator()(tensor<X> const& x, Context const& ctx) const {
    nn::detail::documents_of(ctx, false);
    return kernel::lstm(kernel::linear(x.local(), ctx[weight_ih], ctx[bias_ih] + ctx[bias_hh]), ctx[weight_hh]);
  }
};

template <auto In, auto Hidden, class X>
struct module<gru<In, Hidden>, X> : nn::detail::recurrent_parameters {
  using nn::detail::recurrent_parameters::recurrent_parameters;

  template <class Context>
  tensor<shape::replicated> operator()(tensor<X> const& x, Context const& ctx) const {
    nn::detail::documents_of(ctx, false);
    return kernel::gru(kernel::linear(x.local(), ctx[weight_ih], ctx[bias_ih]), ctx[weight_hh], ctx[bias_hh]);
  }
};

}  // namespace redco
