#pragma once

#include <redco/shape/recomputed_blocks.hpp>

#include <redco/diag/error.hpp>

#include <string>
#include <string_view>

namespace redco::options {

/// Returns "none", "all", "every:2" for every second block, "first:3" for the first three, "range:4:8" for blocks 4 to 7, or
/// "range:4:" for those from block 4 on.
std::string to_text(recomputed_blocks const& blocks);

/// Returns the blocks that `text` names; "true" and "false" are all and none. Numbers have no sign; k and n are at least 1, and
/// a range has at least one block.
///
/// Errors: exit_code::usage.
recomputed_blocks parse_recomputed_blocks(std::string_view text);

}  // namespace redco::options

#ifndef REDCO_COMPILED
#include <redco/options/recomputed_blocks_text.inl.hpp>
#endif
