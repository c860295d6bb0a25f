#pragma once

#include <redco/fact/flow.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/recorder.hpp>

#include <initializer_list>
#include <span>
#include <string_view>

namespace redco::fact {

/// A weight [Out, In] of a layer with its name in the layer: "q" for "q.weight", empty for
/// "weight".
struct named_weight {
  std::string_view name;
  parameter_fact fact;
};

/// An interface for products that an outer layer adds to those of any inner layer's weights, such
/// as low-rank adapters. nn/side_products.hpp computes them.
class side_products {
 public:
  /// States the products that are added to those of `input` with these weights. `whole` is the name
  /// of all weights read as one. `own_tokens` is true if a rank holds its own tokens only.
  constexpr virtual void state(recorder& w, flow const& input, std::span<named_weight const> weights, bool own_tokens,
                               std::string_view whole) const = 0;

 protected:
  constexpr side_products() = default;
  constexpr ~side_products() = default;
};

/// States the side products of a layer, if an outer layer has set them. Call before stating the
/// moment of the layer's backward.
constexpr void state_side_products(recorder& w, flow const& input, std::initializer_list<named_weight> weights,
                                   bool own_tokens = false, std::string_view whole = {}) {
  if (w.beside != nullptr) w.beside->state(w, input, {weights.begin(), weights.size()}, own_tokens, whole);
}

}  // namespace redco::fact
