#pragma once

#include <redco/diag/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace redco::tokenizer::detail {

/// Returns the PCRE2 syntax of a regular expression from a tokenizer.json, which has Oniguruma's
/// Ruby syntax. Translates syntax that the two libraries interpret differently. Throws `error` with
/// exit code 65 if a construct cannot be translated.
inline std::string pcre2_pattern(std::string_view pattern, std::string const& where) {
  auto const refuse = [&](std::string_view what) {
    throw error(exit_code::data, where + ": the pattern " + std::string(pattern) + " uses " + std::string(what) +
                                     ", which is not computed; use a tokenizer whose pattern does without");
  };
  std::string out;
  bool in_class = false;
  std::size_t i = 0;
  auto const copy_braces = [&] {  // copies the braces after \p or \x
    std::size_t const close = pattern.find('}', i);
    if (close == std::string_view::npos) refuse("a brace that is not closed");
    out += pattern.substr(i, close + 1 - i);
    i = close + 1;
  };
  while (i < pattern.size()) {
    char const c = pattern[i++];
    if (c == '\\') {
      if (i == pattern.size()) refuse("a backslash at the end");
      char const escaped = pattern[i++];
      bool const word = (escaped >= '0' && escaped <= '9') || (escaped >= 'A' && escaped <= 'Z') ||
                        (escaped >= 'a' && escaped <= 'z');
      if (escaped == 's' || escaped == 'S') {
        // PCRE2's \s also matches U+180E
        out += escaped == 's' ? "\\p{White_Space}" : "\\P{White_Space}";
      } else if (!word || std::string_view("rntfdD").find(escaped) != std::string_view::npos) {
        (out += c) += escaped;
      } else if (std::string_view("pPx").find(escaped) != std::string_view::npos &&
                 pattern.substr(i).starts_with('{')) {
        (out += c) += escaped;
        copy_braces();
      } else {
        refuse(std::string("\\") + escaped);
      }
      continue;
    }
    if (in_class) {
      if (c == '[') refuse("a class within a class");
      if (c == '&' && pattern.substr(i).starts_with('&')) refuse("&& in a class");
      if (c == ']') in_class = false;
    } else if (c == '[') {
      in_class = true;
      out += c;
      if (pattern.substr(i).starts_with('^')) out += pattern[i++];
      if (pattern.substr(i).starts_with(']')) refuse("] at the front of a class");
      continue;
    } else if (c == '(') {
      std::string_view const rest = pattern.substr(i);
      if (rest.starts_with('*')) refuse("(*");
      if (rest.starts_with('?') && !rest.starts_with("?:") && !rest.starts_with("?i:") && !rest.starts_with("?=") &&
          !rest.starts_with("?!") && !rest.starts_with("?<=") && !rest.starts_with("?<!") && !rest.starts_with("?>"))
        refuse("(" + std::string(rest.substr(0, 3)));
    } else if (c == '}' && pattern.substr(i).starts_with('+')) {
      refuse("}+");
    }
    out += c;
  }
  return out;
}

}  // namespace redco::tokenizer::detail
