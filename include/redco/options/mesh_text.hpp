#pragma once

#include <redco/shape/mesh.hpp>

#include <redco/diag/error.hpp>

#include <charconv>
#include <string>
#include <string_view>

namespace redco::options {

/// "2x3" for two data-parallel replicas of three model-parallel shards.
inline std::string to_text(mesh const& m) { return std::to_string(m.dp) + "x" + std::to_string(m.mp); }

/// The mesh that `text` = DPxMP says. Both numbers are at least one, written without sign.
///
/// Errors: exit_code::usage.
inline mesh parse_mesh(std::string_view text) {
  mesh m{0, 0};
  char const* const end = text.data() + text.size();
  auto const [x, dp_error] = std::from_chars(text.data(), end, m.dp);
  bool right = dp_error == std::errc{} && x != end && *x == 'x';
  if (right) {
    auto const [rest, mp_error] = std::from_chars(x + 1, end, m.mp);
    right = mp_error == std::errc{} && rest == end;
  }
  if (!right || m.dp < 1 || m.mp < 1) {
    throw error(exit_code::usage,
                "'" + std::string(text) +
                    "' is not a mesh; write DPxMP, replicas times shards, each at least 1: 1x2 is one "
                    "model cut into two shards");
  }
  return m;
}

}  // namespace redco::options
