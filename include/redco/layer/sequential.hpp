#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/recorder.hpp>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace redco::layers::detail {

/// A record of one layer of a sequence: its type after the sharding is decided, its input layout
/// X, and the layout `Home`. A pending sum of the layer is reduced to `Home`.
template <class Layer, class X, class Home>
struct link {
  using layer = Layer;
  using input = X;
  using home = Home;
};
template <class... Links>
struct chain {};

/// Properties of the layers of a sequence that do not depend on input layouts. `closes`: the layer
/// takes split features and returns unsplit ones. `passes`: the layer returns split features for a
/// split input.
template <class... Layers>
struct sequence_traits {
  static constexpr std::array<bool, sizeof...(Layers)> closes = {closes_split<Layers>...};
  static constexpr std::array<bool, sizeof...(Layers)> passes = {is_featurewise<Layers>...};

  /// Returns true if layer `i`, or a layer after it, takes a value split by features, such as a
  /// row-parallel layer. Only featurewise layers, which keep the split, may come before that layer.
  static constexpr bool closed_from(std::size_t i) {
    for (; i < sizeof...(Layers); ++i) {
      if (closes[i]) return true;
      if (!passes[i]) return false;
    }
    return false;
  }
};

/// True if the first layer of a sequence is column-parallel for a replicated input. That layer
/// itself sums the gradient of its input over the ranks.
template <class First, class... Rest>
inline constexpr bool first_enters =
    enters<std::conditional_t<sequence_traits<First, Rest...>::closed_from(1), First, unpaired_t<First>>>;

template <std::size_t I, class Layer>
struct placed_layer {
  using type = Layer;
};
template <class Indices, class... Layers>
struct placed_layers;
template <std::size_t... I, class... Layers>
struct placed_layers<std::index_sequence<I...>, Layers...> : placed_layer<I, Layers>... {};
template <std::size_t I, class Layer>
placed_layer<I, Layer> layer_at(placed_layer<I, Layer> const&);

template <class X>
struct before_first {
  using out = X;
  using home = reduction_layout_t<X>;
};

/// Declares to the recorder `w` the parameters, saved tensors and messages of one layer of a
/// sequence, and the reduction of its output unless the layer is the last. A free function, so that
/// its symbol name does not repeat all layers of the sequence.
template <class Layer, class X, class Home, class Config>
constexpr void link_facts(Config const& config, fact::recorder& w, bool last) {
  Layer::template facts<X>(config, w);
  if (!last) fact::detail::finish_facts<out_t<Layer, X>, Home>(w);
}

}  // namespace redco::layers::detail

namespace redco {

/// A sequence of layers. A pending sum over the ranks between two layers is reduced. A pending sum
/// of the last layer is returned unreduced, so that parallel branches can share one reduction. A
/// linear layer with the automatic cut splits its features only if a later layer takes the split. A
/// layer without a name is named by its index.
template <layer... Layers>
struct sequential {
  using layer_concept = layers::layer_tag;
  using subs = layers::detail::numbered_parts<Layers...>;
  template <class... Others>
  using rebind = sequential<Others...>;
  static constexpr bool unnamed = (layers::is_unnamed<Layers> || ...);
  static constexpr bool featurewise = (layers::is_featurewise<Layers> && ...);
  static constexpr bool closes_split = layers::detail::sequence_traits<Layers...>::closed_from(0);
  static constexpr bool enters = layers::detail::first_enters<Layers...>;

 private:
  using indices = std::index_sequence_for<Layers...>;
  static constexpr std::size_t size = sizeof...(Layers);

  /// The layer at index `I` of the sequence with its input and output layouts, if the sequence's
  /// input has layout X.
  template <class X, std::size_t I>
  struct position {
    using before = typename std::conditional_t<I == 0, std::type_identity<layers::detail::before_first<X>>,
                                               std::type_identity<position<X, I - (I > 0)>>>::type;
    using input = layers::finished_t<typename before::out, typename before::home>;
    using home = layers::reduction_layout_t<input, typename before::home>;
    using declared = typename decltype(layers::detail::layer_at<I>(
        std::declval<layers::detail::placed_layers<indices, Layers...>>()))::type;
    static constexpr bool opens =
        shape::is_complete<input> && !layers::detail::sequence_traits<Layers...>::closed_from(I + 1);
    using layer = layers::numbered<I, std::conditional_t<opens, layers::unpaired_t<declared>, declared>>;
    // Checked before the alias `out`: on clang, a failed check inside an alias removes the alias
    // and causes more errors.
    static_assert(sizeof(layers::out_t<layer, input>) > 0);
    using out = layers::out_t<layer, input>;
  };

  template <class X, class Indices>
  struct linked;
  template <class X, std::size_t... I>
  struct linked<X, std::index_sequence<I...>> {
    using type =
        layers::detail::chain<layers::detail::link<typename position<X, I>::layer, typename position<X, I>::input,
                                                   typename position<X, I>::home>...>;
  };

 public:
  template <class X>
  using links = typename linked<X, indices>::type;
  template <class X>
  using out = typename position<X, size - 1>::out;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    each_facts<X>(config, w, indices{});
  }

 private:
  template <class X, class Config, std::size_t... I>
  static constexpr void each_facts(Config const& config, fact::recorder& w, std::index_sequence<I...>) {
    int const expand[] = {(layers::detail::link_facts<typename position<X, I>::layer, typename position<X, I>::input,
                                                      typename position<X, I>::home>(config, w, I + 1 == size),
                           0)...};
    static_cast<void>(expand);
  }
};

}  // namespace redco
