#pragma once

#include <redco/options/value_text.hpp>

#include <redco/shape/bytes.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>

namespace redco::options {

REDCO_INLINE std::int64_t parse_bytes(std::string_view text) {
  auto const refuse = [&](std::string const& why) {
    throw error(exit_code::usage, "'" + std::string(text) + "' " + why);
  };
  char const* const end = text.data() + text.size();
  std::int64_t whole = 0, thousandths = 0;
  auto [rest, failure] = std::from_chars(text.data(), end, whole);
  if (text.empty() || text.front() < '0' || text.front() > '9' || failure != std::errc{})
    refuse("is no number of bytes; write one such as 40GiB");
  if (rest != end && *rest == '.') {
    ++rest;
    for (std::int64_t digit_value = 100; rest != end && *rest >= '0' && *rest <= '9'; ++rest, digit_value /= 10)
      thousandths += digit_value * (*rest - '0');
  }
  std::string_view const unit(rest, static_cast<std::size_t>(end - rest));
  constexpr std::string_view units[] = {"KiB", "MiB", "GiB", "TiB"}, decimal[] = {"KB", "MB", "GB", "TB"};
  std::int64_t binary_size = 1024, decimal_size = 1000;
  for (std::size_t i = 0; i < std::size(units); ++i) {
    if (unit == units[i] || unit == decimal[i]) {
      std::int64_t const size = unit == units[i] ? binary_size : decimal_size;
      std::int64_t const bytes =
          shape::saturating_add(shape::saturating_multiply(whole, size), thousandths * size / 1000);
      if (bytes == 0) refuse("is nothing; write a budget such as 40GiB");
      if (bytes == shape::saturated) refuse("is more than 63 bits can count; write a budget such as 40GiB");
      return bytes;
    }
    binary_size *= 1024;
    decimal_size *= 1000;
  }
  if (unit.empty()) refuse("has no unit; write " + std::string(text) + "GiB, or KiB, MiB or TiB");
  refuse("has the unknown unit '" + std::string(unit) + "'; use KiB, MiB, GiB or TiB, or KB, MB, GB or TB");
  return 0;
}

}  // namespace redco::options

namespace redco::options::detail {

/// Reads the size of a mesh axis into `to`. Returns false unless all of `text` is a number of at
/// least 1.
inline bool read_extent(std::string_view text, int& to) {
  char const* const end = text.data() + text.size();
  auto const [rest, problem] = std::from_chars(text.data(), end, to);
  return problem == std::errc{} && rest == end && to >= 1;
}

/// Returns the number that is written in `digits`, or -1 for any other text.
inline std::int64_t count_in(std::string_view digits) {
  std::int64_t n = -1;
  auto const [rest, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  return problem == std::errc{} && rest == digits.data() + digits.size() ? n : -1;
}

/// Reads a mesh of the form DPxTP, such as "2x3", into `m`. Returns false for any other form.
inline bool read_grid(std::string_view text, mesh& m) {
  std::size_t const x = text.find('x');
  return x != std::string_view::npos && read_extent(text.substr(0, x), m.dp) && read_extent(text.substr(x + 1), m.tp);
}

/// Reads a mesh of the form "pp=2,dp=2,tp=2" into `m`. Returns false for any other form. Returns
/// false for the axis ds, too, which only --zero-within sets.
inline bool read_named(std::string_view text, mesh& m) {
  shape::axes seen;
  while (true) {
    std::size_t const comma = text.find(',');
    std::string_view const one = text.substr(0, comma);
    std::size_t const sign = one.find('=');
    if (sign == std::string_view::npos) return false;
    std::optional<shape::axis> const a = shape::axis_texts.value_of(one.substr(0, sign));
    if (!a || *a == shape::axis::ds || seen.has(*a) || !read_extent(one.substr(sign + 1), m[*a])) return false;
    seen = seen | *a;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace redco::options::detail

namespace redco::options {

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

REDCO_INLINE recomputed_blocks parse_recomputed_blocks(std::string_view text) {
  if (text == "none" || text == "false") return {};
  if (text == "all" || text == "true") return true;
  std::size_t const colon = std::min(text.find(':'), text.size());
  std::string_view const name = text.substr(0, colon), rest = text.substr(std::min(colon + 1, text.size()));
  if (name == "range" && rest.find(':') != std::string_view::npos) {
    std::string_view const last = rest.substr(rest.find(':') + 1);
    shape::block_range const blocks{detail::count_in(rest.substr(0, rest.find(':'))),
                                    last.empty() ? shape::block_range::no_end : detail::count_in(last)};
    if (blocks.begin >= 0 && !blocks.is_empty()) return recomputed_blocks::in_range(blocks);
  } else if (std::int64_t const n = detail::count_in(rest); n >= 1) {
    if (name == "every") return recomputed_blocks::every_kth(n);
    if (name == "first") return recomputed_blocks::first_n(n);
  }
  throw error(exit_code::usage, "'" + std::string(text) +
                                    "' names no blocks; write all, none, every:2 for every second block, first:3 for "
                                    "the first three, or range:4:8 for blocks 4 to 7, counted from 0");
}

REDCO_INLINE std::vector<std::int64_t> parse_stages(std::string_view text) {
  std::vector<std::int64_t> blocks;
  for (std::string_view rest = text;;) {
    std::size_t const comma = rest.find(',');
    std::string_view const word = rest.substr(0, comma);
    std::int64_t const number = detail::count_in(word);
    if (number < 1)
      throw error(exit_code::usage, "--stages " + std::string(text) + ": '" + std::string(word) +
                                        "' is no number of blocks; write numbers from 1 on, such as 3,3,2");
    blocks.push_back(number);
    if (comma == std::string_view::npos) return blocks;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace redco::options
