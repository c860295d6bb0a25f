#pragma once

#include <redco/layer/activations.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/layer/layer.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/recorder.hpp>
#include <redco/fact/side_products.hpp>

#include <cstdint>
#include <type_traits>

namespace redco::layers {

/// Ways to shard the weight of a linear layer over ranks. A model's type declares `column`, `row`,
/// `replicated`, or `automatic` (chosen by the data flow). `unpaired` is an automatic layer
/// replicated because no row-parallel layer follows. `overridden` is a layer that the user has
/// replicated with `keep_replicated`.
enum class cut : unsigned char { automatic, column, row, replicated, unpaired, overridden };

/// Returns true if a layer with this cut holds its complete weight on every rank.
constexpr bool is_replicated(cut c) { return c == cut::replicated || c == cut::unpaired || c == cut::overridden; }

/// Returns the reason, printed in the sharding report, why a layer with the replicated cut `c` is
/// not split.
constexpr fact::reason reason_of(cut c) {
  return c == cut::overridden   ? fact::reason::overridden
         : c == cut::replicated ? fact::reason::declared
                                : fact::reason::unpaired;
}

}  // namespace redco::layers

namespace redco::layers::detail {

template <cut Cut, class X>
struct linear_out {
  static constexpr bool row = shape::is_feature_split<X>;
  using type = std::conditional_t<is_replicated(Cut), reduction_layout_t<X>,
                                  std::conditional_t<row, shape::partial, shape::split<-1>>>;
  static constexpr needs need = is_replicated(Cut)   ? needs::features_alike
                                : Cut == cut::column ? needs::features
                                                     : needs::value;
  static_assert(sizeof(takes<need, X, type>) > 0);
  static_assert(Cut != cut::column || !shape::is_complete<X>,
                "redco[S006]: a replicated value enters a column-parallel layer; put redco::comm::enter before it");
  static_assert(Cut != cut::row || row || std::is_same_v<X, shape::partial>,
                "redco[S004]: the input of a row-parallel layer is not split; put a column-parallel layer before it");
};

}  // namespace redco::layers::detail

namespace redco {

/// A linear layer y = x W^T + b over the last dimension; W is [Out, In], b is [Out].
///
/// With the automatic cut, the layer is row-parallel if its input is split by features; y is then a
/// pending sum over the ranks. For an unsplit input, the layer is column-parallel if a later layer
/// can take the split output, otherwise replicated. The bias of a row-parallel layer is added once,
/// after the reduction.
template <auto In, auto Out, auto Bias = true, layers::cut Cut = layers::cut::automatic>
struct linear {
  using layer_concept = layers::leaf_tag;
  static constexpr bool by_token = true;
  static constexpr bool unnamed = true;
  using unpaired = linear<In, Out, Bias, Cut == layers::cut::automatic ? layers::cut::unpaired : Cut>;
  using overridden = linear<In, Out, Bias, layers::cut::overridden>;
  static constexpr bool closes_split = Cut == layers::cut::automatic || Cut == layers::cut::row;
  static constexpr bool enters = Cut == layers::cut::automatic;

  template <class X>
  using out = typename layers::detail::linear_out<Cut, X>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    constexpr bool row = shape::is_feature_split<X>;
    constexpr bool column = !row && !layers::is_replicated(Cut);
    std::int64_t const in = w.size("features to read", layers::extent_of<In>(config)),
                       outs = w.size("features", layers::extent_of<Out>(config));

    fact::parameter_fact weight;
    weight.shape = {outs, in};
    weight.start = {fact::initial::kind::normal, layers::fan_in_deviation(in)};
    int const dim = row ? 1 : column ? 0 : -1;
    std::int64_t const units = row ? w.activation.units : column ? outs : 0;
    weight.split(shape::axis::tp, dim, units);
    weight.why = row ? fact::reason::row : column ? fact::reason::column : layers::reason_of(Cut);
    fact::parameter_fact bias;
    bias.shape = {outs};
    bias.decay = false;
    bias.split(shape::axis::tp, column ? 0 : -1, outs);
    bias.why = row ? fact::reason::row_bias : column ? fact::reason::column_bias : layers::reason_of(Cut);

    w.expect_features(in);
    if constexpr (column) fact::detail::enter_facts<X>(w);
    w.save("input");
    w.parameter("weight", weight);
    if constexpr (layers::is_replicated(Cut)) fact::shared_parameter_facts<X>(w, weight.shape);
    if (layers::extent_of<Bias>(config)) {
      w.parameter("bias", bias);
      if constexpr (layers::is_replicated(Cut)) fact::shared_parameter_facts<X>(w, bias.shape);
      if constexpr (row) w.addend();
    }

    fact::flow const input = w.activation;
    extents shape = input.shape;
    shape[-1] = outs;
    constexpr bool tokens = layers::is_replicated(Cut) && shape::is_token_split<X>;
    w.produce(shape, column ? shape.rank - 1 : tokens ? input.split_dim : -1, column ? outs : tokens ? input.units : 0);
    w.multiply(shape.count() / outs, in, outs);
    fact::state_side_products(w, input, {{"", weight}}, tokens);
    w.backward(input);
    w.weight_gradient(weight.shape, dim, units);
  }
};

/// Column-parallel linear layer: takes an input that has entered (layout `entered`) and returns a
/// result split by features.
template <auto In, auto Out, auto Bias = true>
using column_linear = linear<In, Out, Bias, layers::cut::column>;
/// Row-parallel linear layer: takes an input split by features and returns a pending sum over the
/// ranks.
template <auto In, auto Out, auto Bias = true>
using row_linear = linear<In, Out, Bias, layers::cut::row>;

}  // namespace redco

namespace redco::layers {

/// Linear layer whose complete weights are on every rank.
template <auto In, auto Out, auto Bias = true>
using replicated_linear = linear<In, Out, Bias, cut::replicated>;

/// A linear layer that converts from In to Out features, replicated on every rank, by default
/// without bias. If In equals Out, the layer returns its input and has no parameters.
template <auto In, auto Out, auto Bias = false>
struct projection : replicated_linear<In, Out, Bias> {
  using unpaired = projection;
  using overridden = projection;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    if (extent_of<In>(config) != extent_of<Out>(config)) {
      replicated_linear<In, Out, Bias>::template facts<X>(config, w);
    } else {
      w.expect_features(w.size("features", extent_of<In>(config)));
    }
  }
};

}  // namespace redco::layers

namespace redco {

/// A gated feed-forward layer (Shazeer 2020) that returns Activation(gate x) * (up x). gate and up
/// are column-parallel [Out, In] weights.
template <auto In, auto Out, class Activation = silu, auto Bias = false, layers::cut Cut = layers::cut::automatic>
struct gated {
  using layer_concept = layers::leaf_tag;
  static constexpr bool by_token = true;
  using unpaired = gated<In, Out, Activation, Bias, Cut == layers::cut::automatic ? layers::cut::unpaired : Cut>;
  using overridden = gated<In, Out, Activation, Bias, layers::cut::overridden>;
  static constexpr bool enters = Cut == layers::cut::automatic;

  template <class X>
  using out = typename layers::detail::linear_out<shape::is_feature_split<X> ? layers::cut::replicated : Cut, X>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    constexpr bool column = !layers::is_replicated(Cut);
    std::int64_t const in = w.size("features to read", layers::extent_of<In>(config)),
                       outs = w.size("features", layers::extent_of<Out>(config));

    fact::parameter_fact weight;
    weight.shape = {outs, in};
    weight.start = {fact::initial::kind::normal, layers::fan_in_deviation(in)};
    weight.split(shape::axis::tp, column ? 0 : -1, outs);
    weight.why = column ? fact::reason::column : layers::reason_of(Cut);
    fact::parameter_fact bias = weight;
    bias.shape = {outs};
    bias.start = {};
    bias.decay = false;
    bias.why = column ? fact::reason::column_bias : layers::reason_of(Cut);

    w.expect_features(in);
    if constexpr (column) fact::detail::enter_facts<X>(w);
    w.save("input");
    w.parameter("gate.weight", weight);
    fact::parameter_fact const gate_bias = bias;
    weight.is_joined = bias.is_joined = true;
    w.parameter("up.weight", weight);
    if constexpr (!column) fact::shared_parameter_facts<X>(w, {2 * outs, in});
    if (layers::extent_of<Bias>(config)) {
      w.parameter("gate.bias", gate_bias);
      w.parameter("up.bias", bias);
      if constexpr (!column) fact::shared_parameter_facts<X>(w, {2 * outs});
    }

    fact::flow const input = w.activation;
    extents shape = input.shape;
    shape[-1] = outs;
    extents both = shape;
    both[-1] = 2 * outs;
    int const dim = column ? shape.rank - 1 : input.split_dim;
    std::int64_t const units = column ? outs : input.units;
    w.produce(both, dim, units);
    w.multiply(shape.count() / outs, in, 2 * outs);
    fact::state_side_products(w, input, {{"gate", weight}, {"up", weight}}, !column && shape::is_token_split<X>);
    w.backward(input);
    w.weight_gradient({2 * outs, in}, column ? 0 : -1, column ? outs : 0);
    fact::flow const halves = w.activation;
    w.save("gate_and_up");
    if (layers::extent_of<Activation::kind>(config) != layers::activation_kind::silu)
      w.save("activated", shape, dim, fact::width_kind::compute, units);
    w.produce(shape, dim, units);
    w.backward(halves);
  }
};

}  // namespace redco
