#pragma once

#include <redco/json/value_fwd.hpp>
#include <redco/diag/error.hpp>

#include <concepts>
#include <string>
#include <string_view>

namespace redco::json {

/// Returns the JSON text of `value` in UTF-8, on one line, or with `indent` spaces per level if
/// `indent` is not negative. Numbers have the fewest digits that read back as equal doubles.
///
/// Throws `error` with exit code 65 for strings that are not UTF-8, and for NaN and infinity, which
/// JSON cannot represent. Callers write null or a name in their place.
std::string dump_json(json_value const& value, int indent = -1);

/// A builder of the text of one JSON object on one line, member by member. For rows of a log, and
/// for objects with so many members that the linear lookup of `json_value` would be slow. Bytes of
/// a member's name that are not UTF-8 become U+FFFD. The caller must ensure that names are unique.
class json_line {
 public:
  /// Adds a member with a number, written as the shortest decimal that reads back as an equal
  /// double. Writes null if `value` is not finite, because JSON cannot represent it.
  void add(std::string_view name, double value);
  void add(std::string_view name, std::integral auto value) { add_text(name, std::to_string(value)); }

  /// Adds a member whose value `json` is already JSON text.
  void add_text(std::string_view name, std::string_view json);

  /// Returns the JSON object with the members added so far: "{...}".
  std::string text() const { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

}  // namespace redco::json

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/json/dump.inl.hpp>
#endif
