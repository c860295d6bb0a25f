#pragma once

#include <redco/nn/module.hpp>
#include <redco/layer/sequential.hpp>

#include <utility>

namespace redco {

namespace detail {

/// The modules of a chain, each holding the next: construction and call go down the line, and a pending sum between two
/// links is reduced.
template <class... Links>
struct linked_modules;

template <class Last>
struct linked_modules<Last> {
  module<typename Last::layer, typename Last::input> first;

  template <class Config>
  explicit linked_modules(builder<Config>& b) : first(b) {}

  template <class X, class Context>
  auto operator()(tensor<X> x, Context const& ctx) const {
    return first(std::move(x), ctx);
  }
};

template <class First, class... Rest>
  requires(sizeof...(Rest) > 0)
struct linked_modules<First, Rest...> {
  module<typename First::layer, typename First::input> first;
  linked_modules<Rest...> rest;

  template <class Config>
  explicit linked_modules(builder<Config>& b) : first(b), rest(b) {}

  template <class X, class Context>
  auto operator()(tensor<X> x, Context const& ctx) const {
    auto y = finish<typename First::home>(first(std::move(x), ctx), ctx.pass());
    x = {};  // what nobody saves for backward is freed before the rest is computed
    return rest(std::move(y), ctx);
  }
};

template <class Chain>
struct modules_of;
template <class... Links>
struct modules_of<chain<Links...>> {
  using type = linked_modules<Links...>;
};

}  // namespace detail

template <class... Layers, class X>
struct module<sequential<Layers...>, X> : detail::modules_of<typename sequential<Layers...>::template links<X>>::type {
  using base = typename detail::modules_of<typename sequential<Layers...>::template links<X>>::type;
  using base::base;
};

}  // namespace redco
