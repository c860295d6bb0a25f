#pragma once

#include <redco/fact/parameter_fact.hpp>

namespace redco {

/// How a linear layer is cut. `automatic` follows the data flow; `column`, `row` and `replicated` are declared in the model's
/// type; `unpaired` is what the data flow decides where no partner follows, `overridden` what a user's override asks for.
enum class cut : unsigned char { automatic, column, row, replicated, unpaired, overridden };

/// Whether the layer's parameters are replicated.
constexpr bool is_replicated(cut c) { return c == cut::replicated || c == cut::unpaired || c == cut::overridden; }

/// Why the parameters of a replicated layer are.
constexpr fact::reason reason_of(cut c) {
  return c == cut::overridden   ? fact::reason::overridden
         : c == cut::replicated ? fact::reason::declared
                                : fact::reason::unpaired;
}

}  // namespace redco
