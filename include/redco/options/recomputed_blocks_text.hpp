#pragma once

#include <redco/shape/recomputed_blocks.hpp>

#include <redco/diag/error.hpp>

#include <string>
#include <string_view>

namespace redco::options {

/// "none", "all", "every:2" for every second block, "first:3" for the first three.
std::string to_text(recomputed_blocks const& blocks);

/// The blocks that `text` names; "true" and "false" are all and none. Numbers are at least one, written without sign.
///
/// Errors: exit_code::usage.
recomputed_blocks parse_recomputed_blocks(std::string_view text);

}  // namespace redco::options

#ifndef REDCO_COMPILED
#include <redco/options/recomputed_blocks_text.inl.hpp>
#endif
