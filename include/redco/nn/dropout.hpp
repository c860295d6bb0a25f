#pragma once

#include <redco/nn/keyed_dropout.hpp>
#include <redco/nn/module.hpp>
#include <redco/layer/dropout.hpp>

#include <cstdint>

namespace redco {

template <auto Probability, class X>
struct module<dropout<Probability>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : probability(b.template probability<Probability>()), site(b.site()), tp_index(b.coordinate(shape::axis::tp)) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const& ctx) const {
    if (!ctx.pass().training || probability == 0) return x;
    std::int64_t const feature0 = shape::is_feature_split<X> ? tp_index * x.local().size(-1) : 0;
    std::int64_t const begin = shape::is_token_split<X> ? tp_index * x.local().size(1) : 0;
    return x.like(nn::detail::dropped(x.local(), probability, ctx.at(site), ctx.pass(), feature0, begin));
  }

  double probability;
  std::uint32_t site;
  int tp_index;
};

}  // namespace redco
