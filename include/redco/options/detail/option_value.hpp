#pragma once

#include <redco/json/value_fwd.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace redco::options::detail {

using list = std::vector<std::string>;

/// JSON that cannot be the value of an option: an object, or a list with an element that is not a
/// string.
struct foreign {
  std::string json;
};

/// Value of an option, between its member and JSON. std::monostate means null (not set).
using option_value =
    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, list, foreign>;

option_value value_of(json::json_value const& value);

/// Returns a value as text for people: strings without quotes, lists separated by spaces, and
/// "auto" for a value that is not set.
std::string shown(option_value const& value);

/// Returns a value as JSON text.
std::string json_text(option_value const& value);

std::string padded(std::string text, std::size_t width);

}  // namespace redco::options::detail

#ifndef REDCO_COMPILED
#include <redco/options/detail/option_value.inl.hpp>
#endif
