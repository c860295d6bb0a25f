#pragma once

#include <redco/fact/parameter_fact.hpp>

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
