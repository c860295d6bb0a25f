#pragma once

#include <redco/json/value.hpp>

#include <cstddef>
#include <string>

namespace redco::options::detail {

/// A value as a person reads it: strings without quotes, lists with blanks, what is left open as "auto".
inline std::string shown(json_value const& value) {
  if (value.is_null()) return "auto";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (auto const& part : value) text.append(text.empty() ? "" : " ").append(shown(part));
  return text;
}

inline std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

}  // namespace redco::options::detail
