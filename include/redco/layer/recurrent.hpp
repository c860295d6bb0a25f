#pragma once

#include <redco/layer/extent_of.hpp>
#include <redco/layer/layer.hpp>
#include <redco/fact/recorder.hpp>

#include <cstdint>
#include <string_view>

namespace redco::layers {

/// A base of gru and lstm, which map [B, T, In] to [B, T, Hidden]. The state of each step depends
/// on the state of the step before; the first state is zero. The products of all inputs with the
/// `Gates` weights are computed at once. Weights are replicated: data parallel only. Names, shapes
/// and gate order are torch's. `Cells` is true if each step also saves a cell state.
template <auto In, auto Hidden, int Gates, bool Cells>
struct recurrent_layer {
  using layer_concept = leaf_tag;
  static constexpr bool unnamed = true;

  template <class X>
  using out = typename detail::takes<detail::needs::alike, X, shape::replicated>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const in = w.size("features to read", extent_of<In>(config)),
                       hidden = w.size("features", extent_of<Hidden>(config));
    std::int64_t const rows = Gates * hidden;
    if (!w.expect_rank(3)) return;
    w.expect_features(in);
    auto const parameter = [&](std::string_view leaf, extents const& shape) {
      fact::parameter_fact fact;
      fact.shape = shape;
      fact.decay = shape.rank > 1;
      if (fact.decay) fact.start = {fact::initial::kind::normal, fan_in_deviation(hidden)};
      fact.why = fact::reason::recurrent;
      w.parameter(leaf, fact);
    };
    parameter("weight_ih", {rows, in});
    parameter("weight_hh", {rows, hidden});
    parameter("bias_ih", {rows});
    parameter("bias_hh", {rows});

    fact::flow const input = w.activation;
    std::int64_t const steps = input.shape[0] * input.shape[1];
    w.save("input");
    w.produce({input.shape[0], input.shape[1], rows});
    w.multiply(steps, in, rows);
    w.backward(input);
    w.weight_gradient({rows, in}, -1, 0);

    fact::flow const projected = w.activation;
    w.save("projected");
    w.produce({input.shape[0], input.shape[1], hidden});
    w.save("output");
    if constexpr (Cells) w.save("cells", w.activation.shape, -1, fact::width_kind::compute);
    w.multiply(steps, hidden, rows);
    w.backward(projected);
    w.workspace("gates", projected);
    w.workspace("earlier_outputs", w.activation);
    w.weight_gradient({rows, hidden}, -1, 0);
  }
};

}  // namespace redco::layers

namespace redco {

/// A gated recurrent layer (Cho et al. 2014), like a one-layer torch::nn::GRU with batch_first. The
/// rows of "weight_ih" [3 Hidden, In] and "weight_hh" [3 Hidden, Hidden] are the reset, update and
/// new gates.
template <auto In, auto Hidden>
struct gru : layers::recurrent_layer<In, Hidden, 3, false> {};

/// A long short-term memory layer (Hochreiter and Schmidhuber 1997), like a one-layer
/// torch::nn::LSTM with batch_first. The rows of "weight_ih" [4 Hidden, In] and "weight_hh" [4
/// Hidden, Hidden] are the input, forget, cell and output gates.
template <auto In, auto Hidden>
struct lstm : layers::recurrent_layer<In, Hidden, 4, true> {};

}  // namespace redco
