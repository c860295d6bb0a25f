#pragma once

#include <redco/json/line.hpp>

#include <redco/json/value.hpp>
#include <redco/config.hpp>

#include <charconv>
#include <cmath>

namespace redco::json {

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
