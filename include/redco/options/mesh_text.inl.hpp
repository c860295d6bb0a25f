#pragma once

#include <redco/options/mesh_text.hpp>

#include <redco/config.hpp>

#include <charconv>
#include <cstddef>
#include <optional>

namespace redco::options::detail {

/// Reads the size of a mesh axis into `to`. Returns false unless all of `text` is a number of at
/// least 1.
inline bool read_extent(std::string_view text, int& to) {
  char const* const end = text.data() + text.size();
  auto const [rest, problem] = std::from_chars(text.data(), end, to);
  return problem == std::errc{} && rest == end && to >= 1;
}

/// Reads a mesh of the form DPxTP, such as "2x3", into `m`. Returns false for any other form.
inline bool read_grid(std::string_view text, mesh& m) {
  std::size_t const x = text.find('x');
  return x != std::string_view::npos && read_extent(text.substr(0, x), m.dp) && read_extent(text.substr(x + 1), m.tp);
}

/// Reads a mesh of the form "pp=2,dp=2,tp=2" into `m`. Returns false for any other form.
inline bool read_named(std::string_view text, mesh& m) {
  shape::axes seen;
  while (true) {
    std::size_t const comma = text.find(',');
    std::string_view const one = text.substr(0, comma);
    std::size_t const sign = one.find('=');
    if (sign == std::string_view::npos) return false;
    std::optional<shape::axis> const a = shape::axis_texts.value_of(one.substr(0, sign));
    if (!a || seen.has(*a) || !read_extent(one.substr(sign + 1), m[*a])) return false;
    seen = seen | *a;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace redco::options::detail

namespace redco::options {

REDCO_INLINE std::string to_text(mesh const& m) {
  if (m == mesh{.dp = m.dp, .tp = m.tp}) return std::to_string(m.dp) + "x" + std::to_string(m.tp);
  std::string text;
  for (shape::axis const a : shape::all_axes)
    if (m[a] != 1) text += (text.empty() ? "" : ",") + std::string(name_of(a)) + "=" + std::to_string(m[a]);
  return text;
}

REDCO_INLINE mesh parse_mesh(std::string_view text) {
  mesh m;
  if (!detail::read_grid(text, m) && !detail::read_named(text, m = {}))
    throw error(
        exit_code::usage,
        "'" + std::string(text) +
            "' is not a mesh; write DPxTP, replicas times shards, each at least 1: 1x2 is one model cut into two "
            "shards; or name axes: dp=2,ep=2,tp=2");
  return m;
}

}  // namespace redco::options
