#pragma once

#include <redco/nn/module.hpp>
#include <redco/layer/branches.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace redco {

template <class Branch, class X>
struct module<residual<Branch>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) : branch(b) {}

  template <class Context>
  tensor<layers::finished_t<X>> operator()(tensor<X> const& x, Context const& ctx) const {
    auto const y = branch(x, ctx);
    constexpr bool pending = std::is_same_v<layers::out_t<typename residual<Branch>::body, X>, shape::partial>;
    if constexpr (pending && shape::is_token_split<X>) {
      return x.like(nn::detail::finish<X>(y, ctx.pass()).local() + x.local());
    } else if constexpr (pending) {
      return nn::detail::finish(y.with_addend(x.local()), ctx.pass());
    } else {
      return x.like(x.local() + y.local());
    }
  }

  module<typename residual<Branch>::body, X> branch;
};

}  // namespace redco

namespace redco {

template <auto When, class Then, class Else, class X>
struct module<layers::either<When, Then, Else>, X> {
  using layer = layers::either<When, Then, Else>;
  using then_module = module<typename layer::then_layer, X>;
  using else_module = module<typename layer::else_layer, X>;
  using any = std::variant<then_module, else_module>;

  template <class Config>
  explicit module(nn::builder<Config>& b)
      : chosen(b.template extent<When>() ? any(std::in_place_index<0>, b) : any(std::in_place_index<1>, b)) {}

  template <class Context>
  tensor<layers::out_t<layer, X>> operator()(tensor<X> const& x, Context const& ctx) const {
    return std::visit([&](auto const& one) -> tensor<layers::out_t<layer, X>> { return one(x, ctx); }, chosen);
  }

  any chosen;
};

}  // namespace redco

namespace redco::nn::detail {

/// An accumulator of the results of parallel branches. Pending sums over the shards are added up
/// before their one reduction. Replicated results are kept as addends and added after the
/// reduction.
struct branch_sum {
  at::Tensor pending;
  std::vector<at::Tensor> whole;

  void add(pending_sum const& x) {
    pending = pending.defined() ? pending + x.local() : x.local();
    whole.insert(whole.end(), x.addends().begin(), x.addends().end());
  }
  void add(tensor<shape::partial> const& x) { add(pending_sum(x)); }
  template <shape::layout X>
  void add(tensor<X> const& x) {
    whole.push_back(x.local());
  }
};

template <class Branches>
struct modules_of_branches;
template <class... Branches>
struct modules_of_branches<layers::detail::branch_list<Branches...>> {
  using type = std::tuple<module<typename Branches::layer, typename Branches::input>...>;

  /// Builds the modules of the branches from left to right, the order in which the plan lists them.
  template <class Config>
  static type build(builder<Config>& b) {
    return type{module<typename Branches::layer, typename Branches::input>(b)...};
  }
};

}  // namespace redco::nn::detail

namespace redco {

template <class... Branches, class X>
struct module<sum<Branches...>, X> {
  using result = layers::out_t<sum<Branches...>, X>;
  using resolved = typename sum<Branches...>::template resolved<X>;
  using branch_modules = nn::detail::modules_of_branches<typename resolved::links>;

  template <class Config>
  explicit module(nn::builder<Config>& b) : branches(branch_modules::build(b)) {}

  template <class Context>
  tensor<result> operator()(tensor<X> const& x, Context const& ctx) const {
    tensor<shape::entered> shared;
    if constexpr (resolved::together) shared = comm::enter(x, ctx.tp());
    nn::detail::branch_sum total;
    std::apply([&](auto const&... branch) { (total.add(run(branch, x, shared, ctx)), ...); }, branches);
    if constexpr (std::is_same_v<result, shape::partial>) {
      return tensor<shape::partial>(total.pending, std::move(total.whole));
    } else {
      at::Tensor value = total.whole.front();
      for (std::size_t i = 1; i < total.whole.size(); ++i) value = value + total.whole[i];
      return x.like(value);
    }
  }

  typename branch_modules::type branches;

 private:
  template <class Branch, class Input, class Context>
  static auto run(module<Branch, Input> const& branch, tensor<X> const& x, tensor<shape::entered> const& shared,
                  Context const& ctx) {
    if constexpr (std::is_same_v<Input, X>) {
      return branch(x, ctx);
    } else {
      return branch(shared, ctx);
    }
  }
};

}  // namespace redco
