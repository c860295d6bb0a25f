#pragma once

#include <redco/json/dump.hpp>

#include <redco/json/value.hpp>
#include <redco/config.hpp>

#include <charconv>
#include <cmath>

namespace redco::json::detail {

inline bool all_finite(json_value const& value) {
  if (value.is_number_float()) return std::isfinite(value.get<double>());
  if (!value.is_structured()) return true;
  for (auto const& part : value) {
    if (!all_finite(part)) return false;
  }
  return true;
}

}  // namespace redco::json::detail

namespace redco::json {

REDCO_INLINE std::string dump_json(json_value const& value, int indent) {
  if (!detail::all_finite(value)) {
    throw error(exit_code::data, "JSON cannot write NaN or infinity; put null or a string into the value");
  }
  try {
    return value.dump(indent);
  } catch (json_value::exception const& e) {
    throw error(exit_code::data, std::string("JSON cannot write a string that is not UTF-8: ") + e.what());
  }
}

REDCO_INLINE void json_line::add(std::string_view name, double value) {
  if (!std::isfinite(value)) return add_text(name, "null");
  char digits[32];
  add_text(name, {digits, std::to_chars(digits, digits + sizeof digits, value).ptr});
}

REDCO_INLINE void json_line::add_text(std::string_view name, std::string_view json) {
  if (text_.size() > 1) text_ += ',';
  text_ += json_value(name).dump(-1, ' ', false, json_value::error_handler_t::replace);
  text_ += ':';
  text_ += json;
}

}  // namespace redco::json
