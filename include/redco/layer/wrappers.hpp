#pragma once

#include <redco/layer/extent_of.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/tree.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/recorder.hpp>
#include <redco/meta/fixed_string.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace redco::layers::detail {

/// A base of layers that wrap another layer, for example to name it. Output layout, inner layers
/// and sharding properties are forwarded from the wrapped `Layer`.
template <layer Layer>
struct forwarding {
  using layer_concept = layer_tag;
  using subs = parts<part<"", Layer>>;
  static constexpr bool featurewise = is_featurewise<Layer>;
  static constexpr bool closes_split = layers::closes_split<Layer>;
  static constexpr bool enters = layers::enters<Layer>;

  template <class X>
  using out = out_t<Layer, X>;
};

/// Returns the decimal digits of I, an index below 1000, as a compile-time string.
template <std::size_t I>
constexpr auto digits() {
  static_assert(I < 1000, "a sequence of at most 1000 layers is numbered; nest them");
  if constexpr (I < 10) {
    return meta::fixed_string({static_cast<char>('0' + I), '\0'});
  } else if constexpr (I < 100) {
    return meta::fixed_string({static_cast<char>('0' + I / 10), static_cast<char>('0' + I % 10), '\0'});
  } else {
    return meta::fixed_string({static_cast<char>('0' + I / 100), static_cast<char>('0' + I / 10 % 10),
                               static_cast<char>('0' + I % 10), '\0'});
  }
}

template <class X>
struct enter_out {
  using type = shape::entered;
  static_assert(
      shape::is_complete<X>,
      "redco[S008]: only a replicated value can enter a column-parallel layer; reduce or gather the value first");
};

}  // namespace redco::layers::detail

namespace redco {

/// A wrapper that gives a layer a name: the parameters of `Layer` become "Name.weight", "Name.bias"
/// and so on.
template <meta::fixed_string Name, layer Layer>
struct named : layers::detail::forwarding<Layer> {
  using subs = layers::parts<layers::part<Name, Layer>>;
  template <class Other>
  using rebind = named<Name, Other>;
  using unpaired = named<Name, layers::unpaired_t<Layer>>;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    w.inside(Name.view(), [&] { Layer::template facts<X>(config, w); });
  }
};

/// A layer that joins all dimensions except the first: [B, C, H, W] becomes [B, C * H * W], as a
/// view.
struct flatten {
  using layer_concept = layers::leaf_tag;

  template <class X>
  using out = typename layers::detail::takes<layers::detail::needs::alike, X, shape::replicated>::type;

  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    extents const x = w.activation.shape;
    w.reshape({x[0], x.count() / x[0]});
  }
};

}  // namespace redco

namespace redco::layers {

/// Layer type for index I of a sequence or sum. If its parameters are named just "weight" or
/// "bias", the index is added ("0.weight", "2.weight"), as torch::nn::Sequential does. Otherwise it
/// is `Layer` itself.
template <std::size_t I, layer Layer>
using numbered = std::conditional_t<is_unnamed<Layer>, named<detail::digits<I>(), Layer>, Layer>;

/// A wrapper that draws the initial weights of `Layer` from a normal distribution with standard
/// deviation `Deviation`, as a model family prescribes. Biases start at zero.
template <auto Deviation, layer Layer>
struct initialised : detail::forwarding<Layer> {
  template <class Other>
  using rebind = initialised<Deviation, Other>;
  using unpaired = initialised<Deviation, unpaired_t<Layer>>;
  static constexpr bool unnamed = is_unnamed<Layer>;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    double const outer = w.deviation;
    w.deviation = static_cast<double>(extent_of<Deviation>(config));
    Layer::template facts<X>(config, w);
    w.deviation = outer;
  }
};

/// A layer that returns its input unchanged and sums its gradient over the ranks in backward. Use
/// it between a replicated activation and layers declared column-parallel. Layers whose cut is
/// automatic do it by themselves.
struct enter_layer {
  using layer_concept = leaf_tag;
  static constexpr bool by_token = true;

  template <class X>
  using out = typename detail::enter_out<X>::type;

  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    fact::detail::enter_facts<X>(w);
  }
};

/// A layer that splits an activation [B, T, features] by tokens over the ranks (sequence
/// parallelism, Korthikanti et al. 2022). After this layer, norms and dropout work on each rank's
/// own tokens. The all-reduce of a block becomes a reduce-scatter after the block and an all-gather
/// before the next. T need not be a multiple of the number of ranks: the last ranks have padding,
/// which reaches no product and no gradient.
struct split_tokens {
  using layer_concept = leaf_tag;
  static constexpr bool by_token = true;

  template <class X>
  using out = typename detail::takes<detail::needs::alike, X, shape::token_split>::type;

  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    if (!w.expect_rank(3)) return;
    fact::flow const whole = w.activation;
    if (whole.id != 0) w.message(shape::collective::all_gather, true, whole.shape);
    w.produce(whole.shape, whole.shape.rank - 2, whole.shape[-2]);
    w.backward(whole);
  }
};

/// A wrapper that splits the tokens over the ranks (layer `split_tokens`) before it runs `Body`. If
/// the tokens are split already, it only runs `Body`. Parameter names are Body's.
template <layer Body>
struct with_split_tokens : detail::forwarding<Body> {
  template <class Other>
  using rebind = with_split_tokens<Other>;
  static constexpr bool unnamed = is_unnamed<Body>;

  template <class X>
  using split = typename std::conditional_t<shape::is_token_split<X>, std::type_identity<X>,
                                            detail::takes<detail::needs::alike, X, shape::token_split>>::type;
  template <class X>
  using out = out_t<Body, split<X>>;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    if constexpr (!shape::is_token_split<X>) split_tokens::facts<X>(config, w);
    Body::template facts<split<X>>(config, w);
  }
};

}  // namespace redco::layers

namespace redco::layers::detail {

template <class Indices, layer... Layers>
struct parts_by_index;
template <std::size_t... I, layer... Layers>
struct parts_by_index<std::index_sequence<I...>, Layers...> {
  using type = parts<std::conditional_t<is_unnamed<Layers>, part<digits<I>(), Layers>, part<"", Layers>>...>;
};

/// List (`parts`) of the inner layers of a sequence or sum. Layers without a name are named by
/// their index.
template <layer... Layers>
using numbered_parts = typename parts_by_index<std::index_sequence_for<Layers...>, Layers...>::type;

}  // namespace redco::layers::detail
