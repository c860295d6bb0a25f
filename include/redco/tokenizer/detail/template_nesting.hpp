#pragma once

#include <redco/diag/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace redco::tokenizer::detail {

/// Maximum depth of brackets in a tag, and of blocks. minja's parser calls itself for each level.
inline constexpr std::size_t most_nested = 100;

/// Returns the end of the string literal that begins at `at`.
inline std::size_t end_of_literal(std::string_view text, std::size_t at) {
  char const quote = text[at++];
  while (at < text.size() && text[at] != quote) at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

/// Returns +1 for the keyword of a tag that begins a block, -1 for one that ends a block, or 0.
inline int block_change(std::string_view tag) {
  std::size_t const begin = std::min(tag.find_first_not_of("-+ \t\r\n"), tag.size());
  std::string_view const word = tag.substr(begin, tag.find_first_of("-+ \t\r\n(%", begin) - begin);
  if (word.starts_with("end")) return -1;
  if (word == "set") return tag.find('=') == std::string_view::npos ? 1 : 0;
  std::array<std::string_view, 6> const blocks{"if", "for", "macro", "filter", "call", "generation"};
  return std::find(blocks.begin(), blocks.end(), word) != blocks.end() ? 1 : 0;
}

/// Throws `error` with exit code 65 if brackets or blocks of a template are nested too deeply.
inline void check_nesting(std::string_view jinja, std::string const& source) {
  auto const check = [&](std::size_t depth) {
    if (depth > most_nested)
      throw error(exit_code::data, source + " has brackets or blocks nested more than " + std::to_string(most_nested) +
                                       " deep: use the template of another revision of the model");
  };
  std::size_t blocks = 0;
  for (std::size_t at = jinja.find('{'); at < jinja.size(); at = jinja.find('{', at)) {
    char const kind = at + 1 < jinja.size() ? jinja[at + 1] : '\0';
    std::size_t const begin = at + 2;
    at += 1;
    if (kind == '#') at = std::min(jinja.find("#}", begin), jinja.size());
    if (kind != '{' && kind != '%') continue;
    std::size_t depth = 0;
    for (at = begin; at < jinja.size();) {
      if (depth == 0 && jinja.substr(at).starts_with(kind == '{' ? "}}" : "%}")) break;
      char const c = jinja[at];
      at = c == '"' || c == '\'' ? end_of_literal(jinja, at) : at + 1;
      if (c == '(' || c == '[' || c == '{') check(++depth);
      if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
    }
    int const change = kind == '%' ? block_change(jinja.substr(begin, std::min(at, jinja.size()) - begin)) : 0;
    if (change > 0) check(++blocks);
    if (change < 0 && blocks > 0) --blocks;
  }
}

}  // namespace redco::tokenizer::detail
