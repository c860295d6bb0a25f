#pragma once

#include <redco/layer/activation_fact.hpp>
#include <redco/layer/parameter_fact.hpp>

#include <redco/shape/extents.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

namespace redco {

/// The activation that flows from layer to layer during a walk.
struct flow {
  extents shape;            ///< logical
  int split_dim = -1;       ///< the dimension that the mesh cuts, -1: whole
  std::int64_t units = 0;   ///< indivisible units along split_dim: heads or columns
  bool kept = false;        ///< already saved by some layer: its storage is counted once
};

/// What a layer's `facts` talks to: it states its parameters, what its forward keeps, its messages, and how the activation
/// changes. `Sink` receives the facts (`add(parameter_fact)`, `add(saved_fact)`, `add(message_fact)`): a counter, an array
/// or a vector, so the same walk runs at compile time and at run time.
template <class Sink>
class walk {
 public:
  constexpr walk(Sink& sink, extents input) : sink_(sink) { activation.shape = input; }

  flow activation;
  double deviation = 0;  ///< of drawn weights, where an outer layer prescribes it; 0: each layer's own

  /// States the parameter `leaf` of the current layer.
  constexpr void parameter(std::string_view leaf, parameter_fact fact) {
    fact.name = here_;
    fact.name.push(leaf);
    fact.blocks = blocks_;
    if (deviation > 0 && fact.start.draw == initial::kind::normal) fact.start.deviation = deviation;
    sink_.add(fact);
  }

  /// States that forward keeps the current activation; an activation kept by two layers is one storage.
  constexpr void keep(std::string_view slot) {
    if (activation.kept) return;
    activation.kept = true;
    keep(slot, activation.shape, activation.split_dim, width_kind::compute, activation.units);
  }

  /// States that forward keeps another tensor beside the activation.
  constexpr void keep(std::string_view slot, extents shape, int split_dim, width_kind kind, std::int64_t units = 0) {
    saved_fact fact;
    fact.layer = here_;
    fact.slot.push(slot);
    fact.shape = shape;
    fact.split_dim = split_dim;
    fact.units = units;
    fact.kind = kind;
    fact.copies = blocks_.count();
    fact.in_block = blocks_.rank > 0;
    sink_.add(fact);
  }

  /// States that the layer makes a new activation.
  constexpr void produce(extents shape, int split_dim = -1, std::int64_t units = 0) {
    activation = {shape, split_dim, units, false};
  }

  /// States a collective whose logical payload has this shape.
  constexpr void message(collective what, bool backward, extents shape, width_kind kind = width_kind::compute) {
    message_fact fact;
    fact.layer = here_;
    fact.what = what;
    fact.backward = backward;
    fact.shape = shape;
    fact.kind = kind;
    fact.copies = blocks_.count();
    fact.in_block = blocks_.rank > 0;
    sink_.add(fact);
  }

  /// Runs `body` with `component` appended to the path.
  template <class Body>
  constexpr void inside(std::string_view component, Body&& body) {
    auto const outer = here_;
    here_.push(component);
    body();
    here_ = outer;
  }

  /// Runs `body` once for `times` equal blocks named `*`.
  template <class Body>
  constexpr void repeated(std::int64_t times, Body&& body) {
    auto const outer = blocks_;
    blocks_.push(times);
    inside("*", std::forward<Body>(body));
    blocks_ = outer;
  }

 private:
  Sink& sink_;
  path here_;
  extents blocks_;
};

}  // namespace redco
