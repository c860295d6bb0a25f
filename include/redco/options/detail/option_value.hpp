#pragma once

#include <redco/json/value_fwd.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace redco::options::detail {

using list = std::vector<std::string>;

/// JSON that is no option's value: an object, a list of other things than strings.
struct foreign {
  std::string json;
};

/// The value of an option between its member and JSON; monostate is null, what is left open.
using option_value =
    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, list, foreign>;

option_value value_of(json::json_value const& value);

/// A value as a person reads it: strings without quotes, lists with blanks, what is left open as "auto".
std::string shown(option_value const& value);

/// A value as it stands in a JSON text.
std::string json_text(option_value const& value);

std::string padded(std::string text, std::size_t width);

}  // namespace redco::options::detail

#ifndef REDCO_COMPILED
#include <redco/options/detail/option_value.inl.hpp>
#endif
