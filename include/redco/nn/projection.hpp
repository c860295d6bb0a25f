#pragma once

#include <redco/nn/linear.hpp>
#include <redco/layer/projection.hpp>

#include <optional>

namespace redco {

template <auto In, auto Out, class X>
struct module<layers::projection<In, Out>, X> {
  using linear_module = module<layers::replicated_linear<In, Out, false>, X>;

  template <class Config>
  explicit module(nn::builder<Config>& b) {
    if (b.template extent<In>() != b.template extent<Out>()) linear.emplace(b);
  }

  template <class Context>
  auto operator()(tensor<X> const& x, Context const& ctx) const {
    return linear ? (*linear)(x, ctx) : x;
  }

  std::optional<linear_module> linear;
};

}  // namespace redco
