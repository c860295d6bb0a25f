#pragma once

#include <redco/json/value.hpp>

#include <redco/diag/error.hpp>

#include <cmath>
#include <string>

namespace redco {

namespace detail {

inline bool all_finite(json_value const& value) {
  if (value.is_number_float()) return std::isfinite(value.get<double>());
  if (!value.is_structured()) return true;
  for (auto const& part : value) {
    if (!all_finite(part)) return false;
  }
  return true;
}

}  // namespace detail

/// The JSON text of `value`, UTF-8, with the fewest digits that give back the same doubles: on one line, or with
/// `indent` spaces per level.
///
/// Errors: exit_code::data for strings that are not UTF-8, and for NaN and infinity, which JSON cannot write: say null,
/// or the number's name, where you mean them.
inline std::string dump_json(json_value const& value, int indent = -1) {
  if (!detail::all_finite(value)) {
    throw error(exit_code::data, "JSON cannot write NaN or infinity; put null or a string into the value");
  }
  try {
    return value.dump(indent);
  } catch (json_value::exception const& e) {
    throw error(exit_code::data, std::string("JSON cannot write a string that is not UTF-8: ") + e.what());
  }
}

}  // namespace redco
