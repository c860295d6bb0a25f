#pragma once

#include <redco/shape/recomputed_blocks.hpp>

#include <redco/diag/error.hpp>

#include <string>
#include <string_view>

namespace redco::options {

/// Returns the text of --recompute: "none", "all", "every:2" for every second block, "first:3" for
/// the first three blocks, "range:4:8" for blocks 4 to 7, or "range:4:" from block 4 on.
std::string to_text(recomputed_blocks const& blocks);

/// Returns the blocks to recompute in backward, as `text` (the option --recompute) names them:
/// "none", "all", "every:K" or "first:K" with an unsigned number K of at least 1. "true" means all
/// and "false" means none.
///
/// Throws `error` with exit code 64 for any other text.
recomputed_blocks parse_recomputed_blocks(std::string_view text);

}  // namespace redco::options

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/recomputed_blocks_text.inl.hpp>
#endif
