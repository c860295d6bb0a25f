#pragma once

#include <redco/options/recomputed_blocks_text.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace redco::options {

REDCO_INLINE std::string to_text(recomputed_blocks const& blocks) {
  if (blocks == recomputed_blocks(true)) return "all";
  if (!blocks.any()) return "none";
  auto const& [begin, end] = blocks.range;
  std::string const last = end == shape::block_range::no_end ? "" : std::to_string(end);
  if (blocks.every > 1) return "every:" + std::to_string(blocks.every);
  return begin == 0 ? "first:" + last : "range:" + std::to_string(begin) + ":" + last;
}

REDCO_INLINE recomputed_blocks parse_recomputed_blocks(std::string_view text) {
  if (text == "none" || text == "false") return {};
  if (text == "all" || text == "true") return true;
  auto const number = [](std::string_view digits) -> std::int64_t {
    std::int64_t n = -1;
    auto const [rest, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    return problem == std::errc{} && rest == digits.data() + digits.size() ? n : -1;
  };
  std::size_t const colon = std::min(text.find(':'), text.size());
  std::string_view const name = text.substr(0, colon), rest = text.substr(std::min(colon + 1, text.size()));
  if (name == "range" && rest.find(':') != std::string_view::npos) {
    std::string_view const last = rest.substr(rest.find(':') + 1);
    shape::block_range const blocks{number(rest.substr(0, rest.find(':'))),
                                    last.empty() ? shape::block_range::no_end : number(last)};
    if (blocks.begin >= 0 && !blocks.is_empty()) return recomputed_blocks::in_range(blocks);
  } else if (std::int64_t const n = number(rest); n >= 1) {
    if (name == "every") return recomputed_blocks::every_kth(n);
    if (name == "first") return recomputed_blocks::first_n(n);
  }
  throw error(exit_code::usage, "'" + std::string(text) +
                                    "' names no blocks; write all, none, every:2 for every second block, first:3 for "
                                    "the first three, or range:4:8 for blocks 4 to 7, counted from 0");
}

}  // namespace redco::options
