#pragma once

#include <redco/json/parse.hpp>

#include <redco/json/detail/strict_builder.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/input_file.hpp>
#include <redco/config.hpp>

namespace redco::json {

REDCO_INLINE json_value parse_json(std::string_view text, std::string const& source, json_limits limits) {
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
  // json_value::sax_parse would also compile the readers of four binary formats.
  nlohmann::detail::parser<json_value, detail::counting_reader>(builder.reader()).sax_parse(&builder);
  return builder.take();
}

REDCO_INLINE json_value read_json(std::filesystem::path const& path, json_limits limits) {
  return parse_json(diag::input_file(path).text(limits.bytes), path.string(), limits);
}

}  // namespace redco::json
