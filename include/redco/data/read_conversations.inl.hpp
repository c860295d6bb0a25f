#pragma once

#include <redco/data/read_conversations.hpp>

#include <redco/data/detail/json_lines.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

namespace redco::data::detail {

/// Appends the messages under `key` to a conversation. Throws `error` with exit code 65 for a value
/// that is no list of messages.
inline void append_messages(json::json_value const& list, std::string const& key, std::string const& where,
                            conversation& all) {
  auto const text = [&](json::json_value const& message, char const* name) {
    auto const found = message.is_object() ? message.find(name) : message.end();
    if (!message.is_object() || found == message.end() || !found->is_string())
      throw error(exit_code::data, where + ": element " + std::to_string(all.messages.size() + 1) + " under \"" + key +
                                       "\" has no text \"" + name + R"("; write {"role": "user", "content": "text"})");
    return found->get<std::string>();
  };
  for (json::json_value const& message : list)
    all.messages.push_back({text(message, "role"), text(message, "content")});
}

/// Returns the conversation of a prompt and of the answer under `key`, two texts or two lists of
/// messages; nullopt if the object does not have both.
inline std::optional<conversation> answered(json::json_value const& object, std::string const& key,
                                            std::string const& where) {
  auto const prompt = object.find("prompt"), answer = object.find(key);
  if (prompt == object.end() || answer == object.end()) return std::nullopt;
  if (prompt->is_string() && answer->is_string())
    return conversation{{{"user", prompt->get<std::string>()}, {"assistant", answer->get<std::string>()}}, 1, false};
  if (!prompt->is_array() || !answer->is_array()) return std::nullopt;
  conversation all;
  append_messages(*prompt, "prompt", where, all);
  all.first_answer = all.messages.size();
  append_messages(*answer, key, where, all);
  return all;
}

/// Returns the assistant's first message from `first_answer` on, or null if there is none.
inline tokenizer::chat_message const* first_answer_of(conversation const& all) {
  auto const found =
      std::find_if(all.messages.begin() + static_cast<std::ptrdiff_t>(all.first_answer), all.messages.end(),
                   [](tokenizer::chat_message const& one) { return one.role == "assistant"; });
  return found == all.messages.end() ? nullptr : &*found;
}

/// Returns the conversation of a line.
inline conversation conversation_of(json::json_value const& object, std::string const& where) {
  auto const messages = object.find("messages");
  std::optional<conversation> all;
  if (messages != object.end() && messages->is_array()) {
    append_messages(*messages, "messages", where, all.emplace());
  } else {
    all = answered(object, "completion", where);
  }
  if (!all)
    throw error(exit_code::data, where +
                                     ": the line has neither a list \"messages\" nor \"prompt\" and \"completion\" "
                                     "(two texts or two lists of messages); write one of these forms");
  if (first_answer_of(*all) == nullptr)
    throw error(exit_code::data,
                where + ": the conversation has no message of the role \"assistant\" to learn; add one");
  return *std::move(all);
}

/// Returns the conversation of a line that ends with the answer under `key`.
inline conversation preference_of(json::json_value const& object, std::string const& key, std::string const& where) {
  std::optional<conversation> all = answered(object, key, where);
  if (!all)
    throw error(exit_code::data, where + ": the line has no \"prompt\" and \"" + key +
                                     "\" that are two texts or two lists of messages; write them and a third such "
                                     "value for the other answer");
  auto const* const answer = first_answer_of(*all);
  if (answer == nullptr || answer->content.empty())
    throw error(exit_code::data, where + ": the answer under \"" + key + "\" is empty; write the assistant's text");
  return *std::move(all);
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

REDCO_INLINE std::vector<preference> read_preferences(std::filesystem::path const& path, double invalid) {
  std::ifstream in = detail::open_json_lines(path);
  std::vector<preference> all;
  detail::each_json_line(in, path, 0, invalid, [&](json::json_value const& object, std::string const& where) {
    all.push_back({detail::preference_of(object, "chosen", where), detail::preference_of(object, "rejected", where)});
  });
  return all;
}

}  // namespace redco::data
