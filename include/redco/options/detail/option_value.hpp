#pragma once

#include <redco/json/value_fwd.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace redco::options::detail {

using list = std::vector<std::string>;

/// A JSON value that no option can have: an object, or a list with an element that is not a string.
struct foreign {
  std::string json;
};

/// A value of an option of any type, used to convert between the member and JSON. std::monostate is
/// the JSON null: the value is not set.
using option_value =
    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, list, foreign>;

option_value value_of(json::json_value const& value);

/// Returns a value as text for the printed table of options: strings without quotes, lists with
/// spaces between elements, and "auto" for a value that is not set.
std::string shown(option_value const& value);

/// Returns the value of an option as JSON text.
std::string json_text(option_value const& value);

inline std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

inline std::string shown(option_value const& value) {
  if (std::holds_alternative<std::monostate>(value)) return "auto";
  if (auto const* const text = std::get_if<std::string>(&value)) return *text;
  auto const* const parts = std::get_if<list>(&value);
  if (parts == nullptr) return json_text(value);
  std::string text;
  for (std::string const& part : *parts) text.append(text.empty() ? "" : " ").append(part);
  return text;
}

}  // namespace redco::options::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/detail/option_value.inl.hpp>
#endif
