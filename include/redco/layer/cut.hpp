#pragma once

#include <redco/fact/parameter_fact.hpp>

namespace redco {

/// Ways to shard a linear layer. `automatic` follows the data flow; `column`, `row` and
/// `replicated` are declared in the model's type. `unpaired` is the data flow's choice if no
/// row-parallel partner follows; `overridden` is a user's override.
enum class cut : unsigned char { automatic, column, row, replicated, unpaired, overridden };

/// Returns true if the layer's parameters are replicated.
constexpr bool is_replicated(cut c) { return c == cut::replicated || c == cut::unpaired || c == cut::overridden; }

/// Returns the reason why the parameters of a replicated layer are replicated.
constexpr fact::reason reason_of(cut c) {
  return c == cut::overridden   ? fact::reason::overridden
         : c == cut::replicated ? fact::reason::declared
                                : fact::reason::unpaired;
}

}  // namespace redco
