#pragma once

#include <redco/options/mesh_text.hpp>

#include <redco/config.hpp>

#include <charconv>

namespace redco::options {

REDCO_INLINE mesh parse_mesh(std::string_view text) {
  mesh m{0, 0};
  char const* const end = text.data() + text.size();
  auto const [x, dp_error] = std::from_chars(text.data(), end, m.dp);
  bool right = dp_error == std::errc{} && x != end && *x == 'x';
  if (right) {
    auto const [rest, tp_error] = std::from_chars(x + 1, end, m.tp);
    right = tp_error == std::errc{} && rest == end;
  }
  if (!right || m.dp < 1 || m.tp < 1) {
    throw error(exit_code::usage,
                "'" + std::string(text) +
                    "' is not a mesh; write DPxMP, replicas times shards, each at least 1: 1x2 is one "
                    "model cut into two shards");
  }
  return m;
}

}  // namespace redco::options
