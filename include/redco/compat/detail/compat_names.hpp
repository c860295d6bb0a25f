#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace redco::compat::detail {

constexpr std::string_view last_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Returns the key by which Redco for Python selects the splitting rule of a parameter: the last
/// two names of the path of a kernel, otherwise the last name.
constexpr std::string_view compat_key(std::string_view path) {
  std::string_view const last = last_name(path);
  if (last != "kernel" || last.size() == path.size()) return last;
  std::string_view const before = path.substr(0, path.size() - last.size() - 1);
  return path.substr(before.size() - last_name(before).size());
}

/// A comparison of two parameter paths, name by name. The separator "/" sorts before every
/// character of a name.
struct by_names {
  constexpr bool operator()(std::string_view a, std::string_view b) const {
    auto const place = [](char c) { return c == '/' ? 0 : 1 + static_cast<unsigned char>(c); };
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [place](char x, char y) { return place(x) < place(y); });
  }
};

/// Returns true if `piece` occurs in `text` between two separators; both ends of `text` count as
/// separators. Examples: "in" in "fc_in" with '_', "up/kernel" in "h/up/kernel" with '/'.
constexpr bool stands_in(std::string_view piece, std::string_view text, char separator) {
  for (std::size_t at = 0;; ++at) {
    std::string_view const rest = text.substr(at);
    if (rest.starts_with(piece) && (rest.size() == piece.size() || rest[piece.size()] == separator)) return true;
    at = text.find(separator, at);
    if (at == std::string_view::npos) return false;
  }
}

/// Returns true if a parameter's path contains "attention" or "attn", in upper or lower case.
constexpr bool names_attention(std::string_view path) {
  auto const same = [](char c, char small) { return c == small || ('A' <= c && c <= 'Z' && c - 'A' == small - 'a'); };
  auto const has = [path, same](std::string_view word) {
    return std::search(path.begin(), path.end(), word.begin(), word.end(), same) != path.end();
  };
  return has("attention") || has("attn");
}

}  // namespace redco::compat::detail
