#pragma once

#include <redco/adapt/low_rank.hpp>
#include <redco/adapt/plan/low_rank_adapted.hpp>

#include <redco/nn/builder.hpp>
#include <redco/nn/module.hpp>

namespace redco {

template <auto Options, class L, class X>
struct module<adapt::low_rank_adapted<Options, L>, X> {
  /// Makes the frozen layer and its LoRA adapters. Throws `error` with exit code 64 if a target in
  /// the options names no weight of the layer.
  template <class Config>
  explicit module(nn::builder<Config>& b) : inner(made(b)) {}

  template <class Context>
  auto operator()(tensor<X> const& x, Context const& ctx) const {
    return inner(x, ctx);
  }

  module<L, X> inner;

 private:
  template <class Config>
  static module<L, X> made(nn::builder<Config>& b) {
    adapt::detail::low_rank_maker maker(b.template extent<Options>());
    auto result = b.with_side_products(maker, [&] { return module<L, X>(b); });
    maker.check_targets();
    return result;
  }
};

}  // namespace redco
