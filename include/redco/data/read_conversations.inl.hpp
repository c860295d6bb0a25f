#pragma once

#include <redco/data/read_conversations.hpp>

#include <redco/data/detail/json_lines.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

namespace redco::data::detail {

/// Returns true for a value that a line may as well leave out: null, "", [] and {}.
inline bool says_nothing(json::json_value const& value) {
  return value.is_null() || (value.is_structured() && value.empty()) || (value.is_string() && value == "");
}

/// Returns false for "weight" 0 and "train" false of an object. Throws `error` with exit code 65
/// for a weight between these, which a loss that counts tokens cannot obey.
inline bool is_learned(json::json_value const& object, std::string const& where) {
  bool learned = true;
  if (auto const weight = object.find("weight"); weight != object.end() && !weight->is_null()) {
    if (!weight->is_number() || (*weight != 0 && *weight != 1))
      throw error(exit_code::data, where + " has \"weight\": " + json::dump_json(*weight) +
                                       ", which is not obeyed; write 0 (not learned) or 1 (learned)");
    learned = *weight == 1;
  }
  if (auto const train = object.find("train"); train != object.end() && !train->is_null()) {
    if (!train->is_boolean())
      throw error(exit_code::data, where + " has \"train\": " + json::dump_json(*train) + "; write true or false");
    learned = learned && train->get<bool>();
  }
  return learned;
}

/// Throws `error` with exit code 65 if the object has one of `keys` with a value that says
/// anything.
inline void refuse_keys(json::json_value const& object, std::initializer_list<char const*> keys,
                        std::string const& where, std::string const& cure) {
  for (char const* const key : keys)
    if (auto const at = object.find(key); at != object.end() && !says_nothing(*at))
      throw error(exit_code::data, where + " has \"" + key + "\", which is not obeyed; " + cure);
}

/// Returns the text of a message's content: a text, or the texts of a list of parts. Null is an
/// empty text if the message calls tools.
inline std::string content_of(json::json_value const& message, std::string const& where) {
  auto const content = message.find("content");
  bool const missing = content == message.end() || content->is_null();
  auto const calls = message.find("tool_calls");
  if (missing && calls != message.end() && calls->is_array() && !calls->empty()) return {};
  if (!missing && content->is_string()) return content->get<std::string>();
  if (missing || !content->is_array())
    throw error(exit_code::data, where + R"( has no text "content"; write {"role": "user", "content": "text"})");
  std::string text;
  for (json::json_value const& part : *content) {
    json::json_value const type = part.is_object() ? part.value("type", json::json_value()) : json::json_value();
    if (type != "text" || !part.contains("text") || !part["text"].is_string())
      throw error(exit_code::data, where + " has a part of the type " + json::dump_json(type) +
                                       R"( in its content; write parts {"type": "text", "text": "..."})");
    text += part["text"].get<std::string>();
  }
  return text;
}

/// Returns the message of an object. `where`: place of the message.
inline tokenizer::chat_message message_of(json::json_value const& object, std::string const& where) {
  auto const role = object.is_object() ? object.find("role") : object.end();
  if (!object.is_object() || role == object.end() || !role->is_string())
    throw error(exit_code::data, where + R"( has no text "role"; write {"role": "user", "content": "text"})");
  refuse_keys(object, {"train_detail", "training_detail"}, where, "write \"train\" for a whole message");
  refuse_keys(object, {"function_call"}, where,
              R"(write "tool_calls": [{"type": "function", "function": {"name": ..., "arguments": ...}}])");
  tokenizer::chat_message message{role->get<std::string>(), content_of(object, where)};
  bool const answer = message.role == "assistant";
  message.trained = is_learned(object, where);
  for (char const* const key : {"weight", "train"})
    if (!answer && message.trained && object.contains(key) && !object[key].is_null())
      throw error(exit_code::data, where + " has \"" + key + "\" in a message of the role \"" + message.role +
                                       "\"; only answers of the assistant are learned");
  if (!answer) message.trained = true;
  if (object.size() > 2 || !object.contains("content") || !object["content"].is_string())
    message.object = json::dump_json(object);
  return message;
}

/// Appends the messages under `key` to a conversation. Throws `error` with exit code 65 for a value
/// that is no list of messages.
inline void append_messages(json::json_value const& list, std::string const& key, std::string const& where,
                            conversation& all) {
  for (json::json_value const& one : list)
    all.messages.push_back(
        message_of(one, where + ": element " + std::to_string(all.messages.size() + 1) + " under \"" + key + "\""));
}

/// Adds the variables of the template that a line has, and the message of its "system". Throws
/// `error` with exit code 65 for keys that cannot be obeyed.
inline void add_settings(json::json_value const& object, std::string const& where, conversation& all) {
  if (!is_learned(object, where + ": the line"))
    throw error(exit_code::data, where +
                                     ": the line has a \"weight\" or \"train\" with which nothing is learned; "
                                     "leave the line out");
  refuse_keys(object, {"functions", "function_call", "images", "image", "videos", "audios"}, where + ": the line",
              "write \"tools\", and texts only");
  if (auto const label = object.find("label"); label != object.end() && label->is_boolean() && !label->get<bool>())
    throw error(exit_code::data, where +
                                     ": the line has \"label\": false, which marks a completion that is wrong; "
                                     "leave the line out");
  if (!all.has_roles) {
    refuse_keys(object, {"system", "tools", "documents", "chat_template_kwargs"}, where + ": the line",
                "texts have no template; write \"prompt\" and the answer as lists of messages");
    return;
  }
  json::json_value variables = json::json_value::object();
  for (char const* const key : {"tools", "documents"}) {
    auto const found = object.find(key);
    if (found == object.end() || says_nothing(*found)) continue;
    json::json_value value = found->is_string() ? json::parse_json(found->get<std::string>(), where) : *found;
    if (!value.is_array())
      throw error(exit_code::data, where + ": \"" + key + "\" is no list; write a list of objects");
    variables[key] = std::move(value);
  }
  if (auto const found = object.find("chat_template_kwargs"); found != object.end() && !says_nothing(*found)) {
    if (!found->is_object())
      throw error(exit_code::data, where + ": \"chat_template_kwargs\" is no object; write {\"name\": value}");
    refuse_keys(*found,
                {"messages", "tools", "documents", "add_generation_prompt", "continue_final_message", "chat_template",
                 "tokenize"},
                where + ": \"chat_template_kwargs\"", "write variables of the template only");
    for (auto const& [name, value] : found->items()) variables[name] = value;
  }
  if (!variables.empty()) all.variables = json::dump_json(variables);
  if (auto const system = object.find("system"); system != object.end() && !says_nothing(*system)) {
    if (!system->is_string() || (!all.messages.empty() && all.messages.front().role == "system"))
      throw error(exit_code::data, where +
                                       ": \"system\" is no text, or stands beside a message of this role; write "
                                       "one of them");
    all.messages.insert(all.messages.begin(), {"system", system->get<std::string>()});
    if (all.first_answer > 0) ++all.first_answer;
  }
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

/// Returns the first answer that is learned, or null if there is none.
inline tokenizer::chat_message const* first_answer_of(conversation const& all) {
  auto const found =
      std::find_if(all.messages.begin() + static_cast<std::ptrdiff_t>(all.first_answer), all.messages.end(),
                   [](tokenizer::chat_message const& one) { return one.role == "assistant" && one.trained; });
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
  add_settings(object, where, *all);
  all->where = where;
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
  add_settings(object, where, *all);
  all->where = where;
  auto const* const answer = first_answer_of(*all);
  if (answer == nullptr || (answer->content.empty() && answer->object.empty()))
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
