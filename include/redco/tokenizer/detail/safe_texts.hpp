#pragma once

#include <redco/tokenizer/detail/template_nesting.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace redco::tokenizer::detail {

/// Returns the code of each tag of a template, with blanks in the place of quoted texts.
inline std::vector<std::string> codes_of_tags(std::string_view jinja) {
  std::vector<std::string> codes;
  for (std::size_t at = jinja.find('{'); at < jinja.size(); at = jinja.find('{', at)) {
    char const kind = at + 1 < jinja.size() ? jinja[at + 1] : '\0';
    if (kind == '#') at = std::min(jinja.find("#}", at), jinja.size());
    if (kind != '{' && kind != '%') {
      at = std::min(at + 1, jinja.size());
      continue;
    }
    std::string& code = codes.emplace_back();
    std::string_view const end = kind == '{' ? "}}" : "%}";
    for (at += 2; at < jinja.size() && !jinja.substr(at).starts_with(end);) {
      std::size_t const next = jinja[at] == '"' || jinja[at] == '\'' ? end_of_literal(jinja, at) : at + 1;
      code += next > at + 1 ? ' ' : jinja[at];
      at = next;
    }
  }
  return codes;
}

/// Returns true if `code` contains `word`, and no longer word around it.
inline bool has_word(std::string_view code, std::string_view word) {
  auto const is_letter = [&](std::size_t i) {
    char const c = i < code.size() ? code[i] : ' ';
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (std::size_t at = code.find(word); at != std::string_view::npos; at = code.find(word, at + 1))
    if (!is_letter(at + word.size()) && (at == 0 || !is_letter(at - 1))) return true;
  return false;
}

/// Returns true if a template may add ("+") a text to a text that it marks as safe ("| safe"), or
/// call a method of the marked text. Jinja then escapes the other text; minja does not. Jinja
/// escapes nothing in a tag that writes a marked text, or that joins it to others by "~".
inline bool adds_safe_texts(std::string_view jinja) {
  std::vector<std::string> const codes = codes_of_tags(jinja);
  std::vector<std::string> marked{"safe"};  // the filter, and the variables that hold marked texts
  for (std::string_view const code : codes) {
    std::size_t const set = code.find("set "), equals = code.find('=');
    if (!has_word(code, "safe") || set == std::string_view::npos || equals == std::string_view::npos) continue;
    std::string_view name = code.substr(set + 4, equals - set - 4);
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    marked.emplace_back(name.substr(0, name.find_last_not_of(' ') + 1));
  }
  return std::any_of(codes.begin(), codes.end(), [&](std::string_view code) {
    return std::any_of(marked.begin(), marked.end(), [&](std::string const& word) {
      if (!has_word(code, word)) return false;
      std::string_view const rest = code.substr(code.find(word) + word.size());
      std::size_t const next = rest.find_first_not_of(" )");
      return code.find('+') != std::string_view::npos || (next != std::string_view::npos && rest[next] == '.');
    });
  });
}

}  // namespace redco::tokenizer::detail
