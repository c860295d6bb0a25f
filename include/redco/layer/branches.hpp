#pragma once

#include <redco/layer/extent_of.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/tree.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/recorder.hpp>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace redco::layers::detail {

template <class X, class Y>
struct residual_out {
  using type = finished_t<X>;
  static_assert(
      std::is_same_v<type, finished_t<Y, type>>,
      "redco[S008]: a residual branch gives another layout than its input; close its split inside the branch");
};

}  // namespace redco::layers::detail

namespace redco {

/// A residual connection, x + Branch(x). If the branch returns a pending sum over the ranks, this
/// sum is reduced once. x and the branch's biases are added after the reduction.
template <layer Branch>
struct residual {
  using layer_concept = layers::layer_tag;
  using subs = layers::parts<layers::part<"", Branch>>;
  template <class Other>
  using rebind = residual<Other>;
  static constexpr bool unnamed = layers::is_unnamed<Branch>;

  using body = layers::unpaired_t<Branch>;

  template <class X>
  using out = typename layers::detail::residual_out<X, layers::out_t<body, X>>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    fact::flow const input = w.activation;
    w.carrying(w.activation, [&] {
      body::template facts<X>(config, w);
      fact::detail::finish_facts<layers::out_t<body, X>, layers::finished_t<X>>(w);
    });
    w.expect_like(input);
    w.read(input);
    w.produce(w.activation.shape, w.activation.split_dim, w.activation.units, fact::making::add);
  }
};

}  // namespace redco

namespace redco::layers::detail {

template <class Y, class Z>
struct either_out {
  using type = Y;
  static_assert(std::is_same_v<Y, Z>, "redco[S008]: two layouts are mixed; close the split of both layers of a choice");
};

}  // namespace redco::layers::detail

namespace redco::layers {

/// A choice between two layers by a value of the config: `Then` if `When` is true, otherwise
/// `Else`. Both must give one layout. A plan has the parameters of the chosen layer only.
template <auto When, layer Then, layer Else>
struct either {
  using layer_concept = layer_tag;
  using subs = parts<part<"", Then>, part<"", Else>>;
  template <class Other, class Another>
  using rebind = either<When, Other, Another>;
  static constexpr bool unnamed = is_unnamed<Then> || is_unnamed<Else>;

  using then_layer = unpaired_t<Then>;
  using else_layer = unpaired_t<Else>;

  template <class X>
  using out = typename detail::either_out<out_t<then_layer, X>, out_t<else_layer, X>>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    if (extent_of<When>(config)) then_layer::template facts<X>(config, w);
    else else_layer::template facts<X>(config, w);
  }
};

}  // namespace redco::layers

namespace redco::layers::detail {

template <class... Ys>
struct sum_out {
  static constexpr bool any_partial = (std::is_same_v<Ys, shape::partial> || ...);
  static constexpr bool any_tokens = (shape::is_token_split<Ys> || ...);
  static constexpr bool summable =
      any_tokens ? (shape::is_token_split<Ys> && ...)
                 : ((std::is_same_v<Ys, shape::partial> || std::is_same_v<Ys, shape::replicated>)&&...);
  using type = std::conditional_t<any_partial, shape::partial,
                                  std::conditional_t<any_tokens, shape::token_split, shape::replicated>>;
  static_assert(summable,
                "redco[S008]: parallel branches give layouts that cannot be added; close each branch's split");
};

/// A record of one branch of a sum: the layer type after its sharding is decided, named by its
/// index, and its input layout X.
template <class Layer, class X>
struct branch {
  using layer = Layer;
  using input = X;
};
template <class... Branches>
struct branch_list {};
template <class X, class Indices, class... Branches>
struct resolve_branches;
template <class X, std::size_t... Index, class... Branches>
struct resolve_branches<X, std::index_sequence<Index...>, Branches...> {
  template <class B>
  using chosen = std::conditional_t<shape::is_complete<X>, unpaired_t<B>, B>;
  /// True if several branches are column-parallel. Their common input then enters once, so that
  /// backward adds up their gradients and reduces them once.
  static constexpr bool together = shape::is_complete<X> && (0 + ... + static_cast<int>(enters<chosen<Branches>>)) > 1;
  template <class B>
  using input = std::conditional_t<together && enters<chosen<B>>, shape::entered, X>;
  using links = branch_list<branch<numbered<Index, chosen<Branches>>, input<Branches>>...>;
  // Checked before the alias `out`: on clang, a failed check inside an alias removes the alias and
  // causes more errors.
  static_assert(((sizeof(out_t<chosen<Branches>, input<Branches>>) > 0) && ...));
  static_assert(sizeof(sum_out<out_t<chosen<Branches>, input<Branches>>...>) > 0);
  using out = typename sum_out<out_t<chosen<Branches>, input<Branches>>...>::type;
};

}  // namespace redco::layers::detail

namespace redco {

/// A sum of parallel branches of one input: Branch1(x) + Branch2(x) + ... Pending sums of the
/// branches are added up before one reduction; replicated results are added after it. If several
/// branches are column-parallel, the gradients of their common input are also reduced once. A
/// branch without a name is named by its index.
template <layer... Branches>
struct sum {
  using layer_concept = layers::layer_tag;
  using subs = layers::detail::numbered_parts<Branches...>;
  template <class... Others>
  using rebind = sum<Others...>;
  static constexpr bool unnamed = (layers::is_unnamed<Branches> || ...);
  static constexpr bool enters = (layers::enters<layers::unpaired_t<Branches>> && ...);

  template <class X>
  using resolved = layers::detail::resolve_branches<X, std::index_sequence_for<Branches...>, Branches...>;
  template <class X>
  using links = typename resolved<X>::links;
  template <class X>
  using out = typename resolved<X>::out;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    fact::flow const input = w.activation;
    if constexpr (resolved<X>::together) fact::detail::enter_facts<X>(w);
    each_facts(config, w, input, links<X>{});
    fact::flow const last = w.activation;
    w.produce(last.shape, shape::is_token_split<out<X>> ? last.split_dim : -1,
              shape::is_token_split<out<X>> ? last.units : 0, fact::making::add);
  }

 private:
  /// Declares to the recorder `w` the parameters, saved tensors and messages of all branches. A
  /// branch reads the sum's input, or the value that entered once for several column-parallel
  /// branches.
  template <class Config, class... Links>
  static constexpr void each_facts(Config const& config, fact::recorder& w, fact::flow const& input,
                                   layers::detail::branch_list<Links...>) {
    fact::flow const entered_input = w.activation;
    std::array<fact::flow, sizeof...(Links)> outputs;
    std::size_t at = 0;
    (branch_facts<Links>(config, w, std::is_same_v<typename Links::input, shape::entered> ? entered_input : input,
                         outputs, at++),
     ...);
    for (fact::flow const& one : outputs)
      if (one.id != w.activation.id) w.read(one);
  }
  template <class Link, class Config, std::size_t N>
  static constexpr void branch_facts(Config const& config, fact::recorder& w, fact::flow const& input,
                                     std::array<fact::flow, N>& outputs, std::size_t at) {
    w.activation = input;
    w.beside([&] { Link::layer::template facts<typename Link::input>(config, w); });
    if (at > 0) w.expect_like(outputs[at - 1]);
    outputs[at] = w.activation;
  }
};

}  // namespace redco
