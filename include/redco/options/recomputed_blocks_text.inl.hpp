#pragma once

#include <redco/options/recomputed_blocks_text.hpp>

#include <redco/config.hpp>

#include <charconv>
#include <cstdint>

namespace redco::options {

REDCO_INLINE std::string to_text(recomputed_blocks const& blocks) {
  if (blocks == recomputed_blocks(true)) return "all";
  if (blocks.every > 0) return "every:" + std::to_string(blocks.every);
  if (blocks.first > 0) return "first:" + std::to_string(blocks.first);
  return "none";
}

REDCO_INLINE recomputed_blocks parse_recomputed_blocks(std::string_view text) {
  if (text == "none" || text == "false") return {};
  if (text == "all" || text == "true") return true;
  std::size_t const colon = text.find(':');
  std::string_view const name = text.substr(0, colon);
  std::int64_t number = 0;
  if (colon != std::string_view::npos && (name == "every" || name == "first")) {
    char const* const end = text.data() + text.size();
    auto const [rest, problem] = std::from_chars(text.data() + colon + 1, end, number);
    if (problem == std::errc{} && rest == end && number >= 1)
      return name == "every" ? recomputed_blocks::every_kth(number) : recomputed_blocks::first_n(number);
  }
  throw error(exit_code::usage, "'" + std::string(text) +
                                    "' names no blocks; write all, none, every:2 for every second block, or first:3 "
                                    "for the first three");
}

}  // namespace redco::options
