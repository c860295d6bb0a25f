#pragma once

#include <redco/json/detail/strict_builder.hpp>
#include <redco/json/limits.hpp>
#include <redco/json/value.hpp>

#include <redco/diag/error.hpp>

#include <string>
#include <string_view>

namespace redco {

/// Parses one JSON text, all of it, in time linear in its size. Besides what JSON forbids, it refuses what readers
/// disagree about: a key twice in one object, an integer that does not fit into 64 bits, NUL anywhere, and more than
/// the limits allow. A number with a point or an exponent stays a double (4.0 is no integer). A byte order mark in
/// front is skipped.
///
/// Errors: exit_code::data, "source:line:column: why".
inline json_value parse_json(std::string_view text, std::string const& source, json_limits limits = {}) {
  if (text.size() > limits.bytes) {
    throw error(exit_code::data, source + ": " + std::to_string(text.size()) +
                                     " bytes of JSON are more than the limit of " + std::to_string(limits.bytes) +
                                     "; is this the right file?");
  }
  if (auto const nul = text.find('\0'); nul != std::string_view::npos) {
    throw error(exit_code::data,
                source + ": NUL at byte " + std::to_string(nul) + "; JSON is text: is this the right file?");
  }
  detail::strict_builder builder(text, source, limits);
  // Not json_value::sax_parse, which compiles the readers of four binary formats as well.
  nlohmann::detail::parser<json_value, detail::counting_reader>(builder.reader()).sax_parse(&builder);
  return builder.take();
}

}  // namespace redco
