#pragma once

#include <redco/data/read_conversations.hpp>

#include <redco/data/detail/json_lines.hpp>
#include <redco/data/detail/messages.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

namespace redco::data::detail {

/// Returns the conversation of a line.
inline conversation conversation_of(json::json_value const& object, std::string const& where) {
  conversation all;
  auto const messages = object.find("messages"), prompt = object.find("prompt"), completion = object.find("completion");
  bool const pair = prompt != object.end() && completion != object.end();
  if (messages != object.end() && messages->is_array()) {
    append_messages(*messages, "messages", where, all);
  } else if (pair && prompt->is_array() && completion->is_array()) {
    append_messages(*prompt, "prompt", where, all);
    all.first_answer = all.messages.size();
    append_messages(*completion, "completion", where, all);
  } else if (pair && prompt->is_string() && completion->is_string()) {
    return {{{"user", prompt->get<std::string>()}, {"assistant", completion->get<std::string>()}}, 1, false};
  } else {
    throw error(exit_code::data, where +
                                     ": the line has neither a list \"messages\" nor \"prompt\" and \"completion\" "
                                     "(two texts or two lists of messages); write one of these forms");
  }
  if (std::none_of(all.messages.begin() + static_cast<std::ptrdiff_t>(all.first_answer), all.messages.end(),
                   [](tokenizer::chat_message const& one) { return one.role == "assistant"; }))
    throw error(exit_code::data,
                where + ": the conversation has no message of the role \"assistant\" to learn; add one");
  return all;
}

}  // namespace redco::data::detail

namespace redco::data {

REDCO_INLINE std::vector<conversation> read_conversations(std::filesystem::path const& path, double invalid) {
  std::ifstream in = detail::open_json_lines(path);
  std::vector<conversation> all;
  detail::each_json_line(in, path, 0, invalid, [&](json::json_value const& object, std::string const& where) {
    all.push_back(detail::conversation_of(object, where));
  });
  return all;
}

}  // namespace redco::data
