#pragma once

#include <redco/nn/activations.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/stage_link.hpp>
#include <redco/kernel/activations.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>

#include <type_traits>
#include <utility>

namespace redco::nn::detail {

/// Returns the form in which kernel::activated computes this activation after a linear layer, as
/// one autograd node; `nothing` for activations that cannot be computed so.
constexpr kernel::after_linear fused(layers::activation_kind kind) {
  switch (kind) {
    case layers::activation_kind::relu: return kernel::after_linear::relu;
    case layers::activation_kind::tanh: return kernel::after_linear::tanh;
    default: return kernel::after_linear::nothing;
  }
}

template <class Module>
struct activation_of : std::false_type {};
template <auto Kind, class X>
struct activation_of<module<layers::activation<Kind>, X>> : std::true_type {
  static constexpr bool may_fuse = [] {
    if constexpr (std::is_same_v<std::remove_const_t<decltype(Kind)>, layers::activation_kind>)
      return fused(Kind) != kernel::after_linear::nothing;
    else return true;
  }();
  /// True if the input of the activation function can be constructed from a tensor alone, without
  /// further data of its layout.
  static constexpr bool is_plain = std::is_constructible_v<tensor<X>, at::Tensor>;
};

/// True if the module type First is a linear layer and Next an activation that can form one
/// autograd node with it. Run-time conditions decide if they do.
template <class Next, class First, class Context>
inline constexpr bool may_fuse = false;
template <class Next, class First, class Context>
  requires(activation_of<Next>::value&& requires(First const& first, Context const& ctx) { first.is_whole(ctx); })
inline constexpr bool may_fuse<Next, First, Context> = activation_of<Next>::may_fuse && activation_of<Next>::is_plain;

/// The modules of a `sequential` as a linked list: each holds the next. Modules are constructed and
/// called from the first to the last. A pending sum over the shards between two modules is reduced.
/// Modules that another pipeline stage runs are skipped.
template <class... Links>
struct linked_modules;

template <class Last>
struct linked_modules<Last> {
  using first_module = module<typename Last::layer, typename Last::input>;
  using input = tensor<typename Last::input>;
  first_module first;

  template <class Config>
  explicit linked_modules(builder<Config>& b) : first(b) {}

  template <class X, class Context>
  auto operator()(tensor<X> x, Context const& ctx) const {
    if constexpr (!layers::detail::has_repeat<typename Last::layer>)
      if (is_elsewhere(ctx.pass())) return nothing_of<decltype(first(std::move(x), ctx))>();
    return first(std::move(x), ctx);
  }
  /// Runs the modules after the first module on `y`, the first module's output.
  template <class X, class Context>
  tensor<X> after_first(tensor<X> y, Context const&) const {
    return y;
  }
};

template <class First, class... Rest>
  requires(sizeof...(Rest) > 0)
struct linked_modules<First, Rest...> {
  using first_module = module<typename First::layer, typename First::input>;
  using input = tensor<typename First::input>;
  first_module first;
  linked_modules<Rest...> rest;

  template <class Config>
  explicit linked_modules(builder<Config>& b) : first(b), rest(b) {}

  template <class X, class Context>
  auto operator()(tensor<X> x, Context const& ctx) const {
    if constexpr (!layers::detail::has_repeat<typename First::layer>)
      if (is_elsewhere(ctx.pass())) return rest(nothing_of<typename linked_modules<Rest...>::input>(), ctx);
    if constexpr (may_fuse<typename linked_modules<Rest...>::first_module, decltype(first), Context>) {
      kernel::after_linear const next = fused(rest.first.kind);
      if (next != kernel::after_linear::nothing && first.is_whole(ctx)) {
        typename linked_modules<Rest...>::input y(kernel::activated(first.before(next, x, ctx), next));
        x = {};
        return rest.after_first(std::move(y), ctx);
      }
    }
    auto y = finish<typename First::home>(first(std::move(x), ctx), ctx.pass());
    x = {};  // Frees the input before the rest is computed, unless backward needs it.
    return rest(std::move(y), ctx);
  }
  template <class X, class Context>
  auto after_first(tensor<X> y, Context const& ctx) const {
    return rest(std::move(y), ctx);
  }
};

template <class Chain>
struct modules_of;
template <class... Links>
struct modules_of<layers::detail::chain<Links...>> {
  using type = linked_modules<Links...>;
};

}  // namespace redco::nn::detail

namespace redco {

template <class... Layers, class X>
struct module<sequential<Layers...>, X>
    : nn::detail::modules_of<typename sequential<Layers...>::template links<X>>::type {
  using base = typename nn::detail::modules_of<typename sequential<Layers...>::template links<X>>::type;
  using base::base;
};

}  // namespace redco
