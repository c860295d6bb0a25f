#pragma once

#include <redco/fact/parameter_fact.hpp>

namespace redco {

/// How a linear layer is cut. `automatic` follows the data flow; `column`, `row` and `whole` are declared in the model's
/// type; `alone` is what the flow decides where no partner follows, `overridden` what a user's override asks for.
enum class cut : unsigned char { automatic, column, row, whole, alone, overridden };

/// Whether the layer's parameters stay whole on every rank.
constexpr bool is_whole(cut c) { return c == cut::whole || c == cut::alone || c == cut::overridden; }

/// Why the parameters of a whole layer are whole.
constexpr reason reason_of(cut c) {
  return c == cut::overridden ? reason::overridden : c == cut::whole ? reason::declared : reason::alone;
}

}  // namespace redco
