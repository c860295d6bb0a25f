#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace redco::pretrained::detail {

/// Returns true if the space-separated list `words` contains `word`.
inline bool has_word(std::string_view words, std::string_view word) {
  for (std::size_t at = 0; at < words.size();) {
    std::size_t const end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

/// Returns the words of a config.json key in lower case, separated by spaces. A word is a sequence
/// of letters and digits.
inline std::string words_of_key(std::string_view key) {
  std::string words;
  for (char const c : key) {
    bool const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    words += !letter ? ' ' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return words;
}

}  // namespace redco::pretrained::detail

namespace redco::pretrained {

REDCO_INLINE key_meaning const* meaning_of(std::string_view key, json::json_value const& value) {
  bool const full = key == "layer_types" && value.is_array() &&
                    std::all_of(value.begin(), value.end(), [](auto const& type) { return type == "full_attention"; });
  if (full || (says_nothing(value) && !value.is_number())) return nullptr;
  std::string const words = detail::words_of_key(key);
  for (key_meaning const& meaning : key_meanings) {
    for (std::size_t at = 0; at < words.size();) {
      std::size_t const end = std::min(words.find(' ', at), words.size());
      if (end > at && detail::has_word(meaning.words, std::string_view(words).substr(at, end - at)))
        return value.is_number() && value.get<double>() == meaning.neutral ? nullptr : &meaning;
      at = end + 1;
    }
  }
  return nullptr;
}

}  // namespace redco::pretrained
