#pragma once

#include <redco/fact/event.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/recorder.hpp>

#include <initializer_list>
#include <span>
#include <string_view>

namespace redco::fact {

/// A weight [Out, In] of a layer with its name in the layer: "q" for the parameter "q.weight", and
/// empty for the parameter "weight".
struct named_weight {
  std::string_view name;
  parameter_fact fact;
};

/// An interface that declares side products: matrix products, such as low-rank adapters, that are
/// added to the product of a layer's own weight. An outer layer gives the recorder an
/// implementation for its inner layers. nn/side_products.hpp computes side products.
class side_products {
 public:
  /// Declares to the recorder `w` the side products of a layer: matrix products that are added to
  /// the layer's own product of `input` and `weights`. `whole` is the name of all weights as one
  /// matrix. `own_tokens` is true if each rank holds only its own tokens of `input`.
  constexpr virtual void state(recorder& w, flow const& input, std::span<named_weight const> weights, bool own_tokens,
                               std::string_view whole) const = 0;

 protected:
  constexpr side_products() = default;
  constexpr ~side_products() = default;
};

/// Declares to the recorder `w` the side products of the current layer: matrix products, such as
/// low-rank adapters, that an outer layer adds to the layer's output. Does nothing if there are
/// none. Call it before backward().
constexpr void state_side_products(recorder& w, flow const& input, std::initializer_list<named_weight> weights,
                                   bool own_tokens = false, std::string_view whole = {}) {
  if (w.sides != nullptr) w.sides->state(w, input, {weights.begin(), weights.size()}, own_tokens, whole);
}

}  // namespace redco::fact
