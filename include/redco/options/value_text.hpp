#pragma once

#include <redco/shape/blocks.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redco::options {

/// Returns the number of bytes written in `text`, such as "1.5GiB": an unsigned number with at most
/// three decimals, directly followed by its unit. KiB, MiB, GiB and TiB are powers of 1,024. KB,
/// MB, GB and TB are powers of 1,000, as vendors state the memory of devices.
///
/// Throws `error` with exit code 64 for any other text, for zero, and for 2^63 bytes or more.
std::int64_t parse_bytes(std::string_view text);

/// Returns the text of a mesh for --mesh, such as "2x3" for two data-parallel replicas of three
/// tensor-parallel shards. Meshes with other axes are written by name: "dp=2,ep=4,tp=3". The text
/// has the number of all replicas, also if they are in groups (--zero-within).
inline std::string to_text(mesh const& of_run) {
  mesh const m = shape::without_groups(of_run);
  if (m == mesh{.dp = m.dp, .tp = m.tp}) return std::to_string(m.dp) + "x" + std::to_string(m.tp);
  std::string text;
  for (shape::axis const a : shape::all_axes)
    if (m[a] != 1) text += (text.empty() ? "" : ",") + std::string(name_of(a)) + "=" + std::to_string(m[a]);
  return text;
}

/// Returns the mesh written in `text`: DPxTP, or axes by name in any order, such as "dp=2,tp=3". An
/// axis that is not named has size 1. Sizes are unsigned numbers of at least 1.
///
/// Throws `error` with exit code 64 for any other text.
mesh parse_mesh(std::string_view text);

/// Returns the text of --recompute: "none", "all", "every:2" for every second block, "first:3" for
/// the first three blocks, "range:4:8" for blocks 4 to 7, or "range:4:" from block 4 on.
inline std::string to_text(recomputed_blocks const& blocks) {
  if (blocks == recomputed_blocks(true)) return "all";
  if (!blocks.any()) return "none";
  auto const& [begin, end] = blocks.range;
  std::string const last = end == shape::block_range::no_end ? "" : std::to_string(end);
  if (blocks.every > 1) return "every:" + std::to_string(blocks.every);
  return begin == 0 ? "first:" + last : "range:" + std::to_string(begin) + ":" + last;
}

/// Returns the blocks to recompute in backward, as `text` (the option --recompute) names them:
/// "none", "all", "every:K" or "first:K" with an unsigned number K of at least 1. "true" means all
/// and "false" means none.
///
/// Throws `error` with exit code 64 for any other text.
recomputed_blocks parse_recomputed_blocks(std::string_view text);

/// Returns the numbers of blocks of pipeline stages, as `text` (the option --stages) lists them,
/// such as "3,3,2".
///
/// Throws `error` with exit code 64 for any other text, and for a number below 1.
std::vector<std::int64_t> parse_stages(std::string_view text);

}  // namespace redco::options

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/value_text.inl.hpp>
#endif
