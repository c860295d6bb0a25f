#pragma once

#include <redco/layer/cut.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/silu.hpp>
#include <redco/layer/square_root.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/recorder.hpp>
#include <redco/fact/side_products.hpp>

#include <cstdint>
#include <type_traits>

namespace redco {

/// A gated feed-forward layer (Shazeer 2020) that returns Activation(gate x) * (up x). gate and up
/// are column-parallel [Out, In] weights.
template <auto In, auto Out, class Activation = silu, auto Bias = false, layers::cut Cut = layers::cut::automatic>
struct gated {
  using layer_concept = layers::leaf_tag;
  using unpaired = gated<In, Out, Activation, Bias, Cut == layers::cut::automatic ? layers::cut::unpaired : Cut>;
  using overridden = gated<In, Out, Activation, Bias, layers::cut::overridden>;
  static constexpr bool enters = Cut == layers::cut::automatic;

  template <class X>
  using out = typename layers::detail::linear_out<shape::is_feature_split<X> ? layers::cut::replicated : Cut, X>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    constexpr bool column = !layers::is_replicated(Cut);
    std::int64_t const in = w.size("features to read", layers::of<In>(config)),
                       outs = w.size("features", layers::of<Out>(config));

    fact::parameter_fact weight;
    weight.shape = {outs, in};
    weight.start = {fact::initial::kind::normal, 1.0 / layers::square_root(3.0 * static_cast<double>(in))};
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
    w.parameter("up.weight", weight);
    if constexpr (!column) fact::shared_parameter_facts<X>(w, {2 * outs, in});
    if (layers::of<Bias>(config)) {
      w.parameter("gate.bias", bias);
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
    if (layers::of<Activation::kind>(config) != layers::activation_kind::silu)
      w.save("activated", shape, dim, fact::width_kind::compute, units);
    w.produce(shape, dim, units);
    w.backward(halves);
  }
};

}  // namespace redco
