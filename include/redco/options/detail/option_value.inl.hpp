#pragma once

#include <redco/options/detail/option_value.hpp>

#include <redco/json/dump.hpp>
#include <redco/json/value.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <type_traits>

namespace redco::options::detail {

REDCO_INLINE option_value value_of(json::json_value const& value) {
  if (value.is_null()) return std::monostate();
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  auto const is_string = [](json::json_value const& part) { return part.is_string(); };
  if (value.is_array() && std::all_of(value.begin(), value.end(), is_string)) return value.get<list>();
  return foreign{value.dump()};
}

REDCO_INLINE std::string json_text(option_value const& value) {
  return std::visit(
      []<class T>(T const& held) -> std::string {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return "null";
        } else if constexpr (std::is_same_v<T, foreign>) {
          return held.json;
        } else {
          return json::dump_json(json::json_value(held));
        }
      },
      value);
}

}  // namespace redco::options::detail
