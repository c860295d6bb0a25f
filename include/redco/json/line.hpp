#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace redco::json {

/// The text of one JSON object on one line, member by member: for rows of a log, and for objects of so many members that
/// the linear look-up of a `json_value` would cost. A name's bytes that are no UTF-8 become U+FFFD; that no name is there
/// twice is up to the caller.
class json_line {
 public:
  /// The shortest decimal that reads back as `value`; null where it is not finite, as JSON has no word for it.
  void add(std::string_view name, double value);
  void add(std::string_view name, std::integral auto value) { add_text(name, std::to_string(value)); }

  /// `json` is the member's value, JSON already.
  void add_text(std::string_view name, std::string_view json);

  /// The object so far: "{...}".
  std::string text() const { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

}  // namespace redco::json

#ifndef REDCO_COMPILED
#include <redco/json/line.inl.hpp>
#endif
