#pragma once

#include <redco/data/read_preferences.hpp>

#include <redco/data/detail/json_lines.hpp>
#include <redco/data/detail/messages.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>

namespace redco::data::detail {

/// Returns the conversation of a line's prompt and of the answer under `key`.
inline conversation answered(json::json_value const& object, std::string const& key, std::string const& where) {
  auto const prompt = object.find("prompt"), answer = object.find(key);
  conversation all;
  if (prompt != object.end() && answer != object.end() && prompt->is_string() && answer->is_string()) {
    all = {{{"user", prompt->get<std::string>()}, {"assistant", answer->get<std::string>()}}, 1, false};
  } else if (prompt != object.end() && answer != object.end() && prompt->is_array() && answer->is_array()) {
    append_messages(*prompt, "prompt", where, all);
    all.first_answer = all.messages.size();
    append_messages(*answer, key, where, all);
  } else {
    throw error(exit_code::data, where + ": the line has no \"prompt\" and \"" + key +
                                     "\" that are two texts or two lists of messages; write them and a third such "
                                     "value for the other answer");
  }
  auto const is_answer = [](tokenizer::chat_message const& one) {
    return one.role == "assistant" && !one.content.empty();
  };
  if (std::none_of(all.messages.begin() + static_cast<std::ptrdiff_t>(all.first_answer), all.messages.end(), is_answer))
    throw error(exit_code::data, where + ": the answer under \"" + key + "\" is empty; write the assistant's text");
  return all;
}

}  // namespace redco::data::detail

namespace redco::data {

REDCO_INLINE std::vector<preference> read_preferences(std::filesystem::path const& path, double invalid) {
  std::ifstream in = detail::open_json_lines(path);
  std::vector<preference> all;
  detail::each_json_line(in, path, 0, invalid, [&](json::json_value const& object, std::string const& where) {
    all.push_back({detail::answered(object, "chosen", where), detail::answered(object, "rejected", where)});
  });
  return all;
}

}  // namespace redco::data
