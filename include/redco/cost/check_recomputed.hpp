#pragma once

#include <redco/fact/event.hpp>
#include <redco/fact/program.hpp>
#include <redco/shape/recomputed_blocks.hpp>

#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace redco::cost {

/// Throws `error` with exit code 64 if no outermost `repeat` of the model has a block in the range
/// of blocks to recompute.
constexpr void check_recomputed(fact::program const& facts, recomputed_blocks const& again) {
  std::int64_t const begin = again.range.begin;
  std::int64_t most = 0, depth = 0;
  for (fact::event const& e : facts.events) {
    depth -= e.what == fact::event_kind::repeat_end;
    if (e.what == fact::event_kind::repeat && depth++ == 0) most = std::max(most, e.blocks.base + e.blocks.times);
  }
  if (begin == 0 || begin < most) return;
  throw error(exit_code::usage,
              "no block is recomputed: the range begins with block " + std::to_string(begin) + ", " +
                  (most == 0 ? "and the model repeats no blocks; recompute none"
                             : "and the model has blocks 0 to " + std::to_string(most - 1) +
                                   "; choose a range that begins at " + std::to_string(most - 1) + " or before"));
}

}  // namespace redco::cost
