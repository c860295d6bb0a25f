#pragma once

#include <redco/layer/layer.hpp>
#include <redco/fact/recorder.hpp>

#include <string_view>

namespace redco::layers {

/// A customisation point that declares the parameters of a user's callable. They can be planned
/// without torch if the callable lists them: `static constexpr std::array
/// parameters{parameter_shape{"weight", {3, 4}}, ...}`. For another callable, nn/opaque.hpp
/// constructs one object and reads the shapes of its tensors.
template <class Callable>
struct opaque_facts;

/// The name and shape of one parameter, as a user's callable lists it for the layer `opaque`.
struct parameter_shape {
  std::string_view name;
  extents shape;
};

template <class Callable>
  requires requires { Callable::parameters; }
struct opaque_facts<Callable> {
  static constexpr void state(fact::recorder& w) {
    for (parameter_shape const& p : Callable::parameters) {
      fact::parameter_fact fact;
      fact.shape = p.shape;
      fact.decay = p.shape.rank > 1;
      fact.why = fact::reason::opaque;
      fact.start = {fact::initial::kind::normal, 0.02};
      w.parameter(p.name, fact);
    }
  }
};

}  // namespace redco::layers

namespace redco {

/// A layer that calls a user's callable on an at::Tensor. The callable has its own parameters,
/// which are complete on every rank, so the layer is data parallel only.
template <class Callable>
struct opaque {
  using layer_concept = layers::leaf_tag;
  static constexpr bool unnamed = true;

  template <class X>
  using out = typename layers::detail::takes<layers::detail::needs::alike, X, shape::replicated>::type;

  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    layers::opaque_facts<Callable>::state(w);
    w.uncounted();
    w.produce(w.activation.shape);
  }
};

}  // namespace redco
