#pragma once

#include <redco/tokenizer/chat_template.hpp>

#include <redco/tokenizer/detail/answer_range.hpp>
#include <redco/tokenizer/detail/bounded_child.hpp>
#include <redco/tokenizer/detail/chat_renderer.hpp>
#include <redco/tokenizer/detail/template_nesting.hpp>
#include <redco/tokenizer/detail/tokenizer_settings.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

namespace redco::tokenizer::detail {

/// Returns the variables of a template in a JSON text, which may be empty.
inline json::json_value variables_in(std::string const& text) {
  return text.empty() ? json::json_value::object() : json::parse_json(text, "variables of a chat template");
}

/// Copies the thoughts of a message to each name that templates read, as transformers 5.24 does.
inline void name_thoughts(json::json_value& message) {
  for (char const* const name : {"reasoning_content", "thinking", "reasoning"}) {
    auto const found = message.find(name);
    if (found == message.end() || found->is_null()) continue;
    json::json_value const thoughts = *found;
    if (!message.contains("thinking")) message["thinking"] = thoughts;
    message["reasoning_content"] = thoughts;
    return;
  }
}

/// Returns messages as the template sees them.
inline json::json_value objects_of(std::span<chat_message const> messages) {
  json::json_value list = json::json_value::array();
  for (chat_message const& message : messages)
    list.push_back(message.object.empty() ? json::json_value{{"role", message.role}, {"content", message.content}}
                                          : json::parse_json(message.object, "a message of the role " + message.role));
  for (json::json_value& message : list) name_thoughts(message);
  return list;
}

/// Returns messages as the template sees them. Content in parts becomes one text if the template
/// writes a part in another way than a text.
inline json::json_value objects_for(chat_renderer const& renderer, std::span<chat_message const> messages, bool asks,
                                    json::json_value const& extra) {
  json::json_value given = objects_of(messages), texts = given, parts = given;
  bool has_parts = false;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (!given[i].contains("content") || !given[i]["content"].is_array()) continue;
    has_parts = true;
    texts[i]["content"] = messages[i].content;
    parts[i]["content"] = json::json_value::array({{{"type", "text"}, {"text", messages[i].content}}});
  }
  if (!has_parts) return given;
  auto const rendered = [&](json::json_value const& list) -> std::optional<std::string> {
    try {
      return renderer.text(list, asks, extra);
    } catch (error const&) {
      return std::nullopt;
    }
  };
  auto const of_texts = rendered(texts), of_parts = rendered(parts);
  return of_parts && (!of_texts || of_texts == of_parts) ? given : texts;
}

/// A template in Jinja and the name of its file for error messages.
struct named_template {
  std::string jinja, source;
};

/// The templates of a folder: the default one, and the one for conversations with tools, if any.
struct folder_templates {
  named_template plain;
  std::optional<named_template> tools = {};
};

inline named_template template_file(std::filesystem::path const& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad() || !in.is_open()) throw error(exit_code::data, file.string() + " cannot be read: check its permissions");
  return {std::move(text), file.string()};
}

/// Returns the chat templates of a folder.
inline folder_templates chat_templates_of(std::filesystem::path const& folder, tokenizer_settings const& settings) {
  if (std::filesystem::path const file = folder / "chat_template.jinja"; is_there(file)) {
    folder_templates all{template_file(file)};
    std::filesystem::path const tools = folder / "additional_chat_templates" / "tool_use.jinja";
    if (is_there(tools)) all.tools = template_file(tools);
    return all;
  }
  auto const found = settings.node().find("chat_template");
  if (!found)
    throw error(exit_code::data, folder.string() +
                                     " has no chat template (chat_template.jinja, or \"chat_template\" in "
                                     "tokenizer_config.json): use a model that was trained on conversations");
  if (found->value().is_string()) return {{found->text(), found->location()}};
  std::optional<named_template> plain, tools;
  for (auto const& [index, value] : found->value().items()) {
    json_node const named(value, found->location() + "." + index);
    std::string const name = named.at("name").text();
    if (name == "default") plain = {named.at("template").text(), named.location()};
    if (name == "tool_use") tools = {named.at("template").text(), named.location()};
  }
  if (!plain) found->refuse("has no template named \"default\"; use a folder with one");
  return {*std::move(plain), std::move(tools)};
}

/// Leaves out the answers that a model does not learn. `answers`: ranges that the template
/// encloses, one for each message of the assistant.
inline void keep_learned(std::vector<byte_range>& answers, std::span<chat_message const> messages, std::size_t first,
                         std::string const& source) {
  std::vector<bool> learned;
  for (std::size_t i = 0; i < messages.size(); ++i)
    if (messages[i].role == "assistant") learned.push_back(i >= first && messages[i].trained);
  if (std::find(learned.begin(), learned.end(), false) == learned.end()) return;
  if (answers.size() != learned.size())
    throw error(exit_code::data, source + " encloses " + std::to_string(answers.size()) + " answers of " +
                                     std::to_string(learned.size()) +
                                     " messages, so that single ones cannot be left out: enclose each answer once");
  std::vector<byte_range> kept;
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (learned[i]) kept.push_back(answers[i]);
  answers = std::move(kept);
}

/// Returns the text of a conversation and its trained answers from message `first` on.
inline chat_text marked_by(chat_renderer const& renderer, std::span<chat_message const> messages, std::size_t first,
                           json::json_value const& extra) {
  json::json_value const objects = objects_for(renderer, messages, false, extra);
  if (renderer.marks_answers()) {
    auto [text, answers] = renderer.marked_text(objects, extra);
    renderer.check_values(text, objects, false, extra);
    keep_learned(answers, messages, first, renderer.source());
    return {std::move(text), std::move(answers)};
  }
  answer_finder const finder(renderer, objects, extra);
  renderer.check_values(finder.whole(), objects, false, extra);
  chat_text whole{finder.whole(), {}};
  std::size_t before = 0;
  for (std::size_t i = first; i < messages.size(); ++i) {
    if (messages[i].role != "assistant" || !messages[i].trained) continue;
    auto const answer = finder.range_of(i);
    if (!answer || answer->first < before)
      throw error(exit_code::data, renderer.source() + " does not show where message " + std::to_string(i + 1) +
                                       " of a conversation begins and ends: enclose the assistant's "
                                       "part of the template in {% generation %} and {% endgeneration %}");
    whole.answers.push_back(*answer);
    before = answer->second;
  }
  return whole;
}

/// Returns a text with its ranges as bytes: the number of ranges, their bounds, the text.
inline std::string packed_text(chat_text const& text) {
  std::string packed = std::to_string(text.answers.size());
  for (auto const& [begin, end] : text.answers)
    packed.append(1, ' ').append(std::to_string(begin)).append(1, ' ').append(std::to_string(end));
  return packed.append(1, '\n').append(text.text);
}

inline chat_text unpacked_text(std::string const& packed) {
  std::size_t const line = packed.find('\n');
  std::istringstream numbers(packed.substr(0, line));
  std::size_t count = 0;
  numbers >> count;
  chat_text text{packed.substr(line + 1), std::vector<byte_range>(count)};
  for (auto& [begin, end] : text.answers) numbers >> begin >> end;
  return text;
}

/// Throws `error` with exit code 65 if a job failed. `where`: place of the conversation, or empty.
inline void check_done(child_results const& done, std::string const& source, std::string const& where = {}) {
  if (!done.failure) return;
  std::string const why = done.exceeded ? source + " " + *done.failure +
                                              " for one conversation: use the template of another revision of the model"
                                        : *done.failure;
  throw error(exit_code::data, (where.empty() ? "" : where + ": ") + why);
}

/// Returns the number of ids at the beginning of `ids` that encode the first `end` bytes of `text`,
/// without a token that continues after them.
inline std::size_t ids_before(any_tokenizer const& tokenizer, std::vector<std::int64_t> const& ids,
                              std::string_view text, std::size_t end, bool& cut) {
  std::vector<std::int64_t> const begin = tokenizer.encode(text.substr(0, end), {.add_special = false});
  std::size_t equal = 0;
  while (equal < begin.size() && equal < ids.size() && begin[equal] == ids[equal]) ++equal;
  cut = equal < begin.size();
  return equal;
}

}  // namespace redco::tokenizer::detail

namespace redco::tokenizer {

struct chat_template::compiled {
  /// Parses the templates in a child process, and then in this process.
  compiled(detail::named_template const& plain_template, std::optional<detail::named_template> const& tool_template,
           special_names const& names, chat_limits const& most)
      : limits(most) {
    auto const parse = [&](std::optional<detail::chat_renderer>& made, detail::named_template const& one) {
      detail::check_nesting(one.jinja, one.source);
      auto const parsed = detail::bounded_child::run(
          1,
          [&](std::size_t) {
            detail::chat_renderer(one.jinja, names, one.source);
            return std::string();
          },
          limits);
      detail::check_done(parsed, one.source);
      std::lock_guard const lock(detail::fork_mutex());
      made.emplace(one.jinja, names, one.source);
    };
    parse(plain, plain_template);
    if (tool_template) parse(tools, *tool_template);
  }

  detail::chat_renderer const& renderer(json::json_value const& extra) const {
    bool const has_tools = !extra.value("tools", json::json_value()).is_null();
    detail::chat_renderer const& chosen = has_tools && tools ? *tools : *plain;
    chosen.check_tools(extra);
    return chosen;
  }

  chat_limits limits;
  std::optional<detail::chat_renderer> plain;
  std::optional<detail::chat_renderer> tools;  ///< the template for conversations with tools
};

REDCO_INLINE chat_template::chat_template(std::filesystem::path const& folder, chat_limits limits) {
  detail::tokenizer_settings const settings(folder);
  auto const [plain, tools] = detail::chat_templates_of(folder, settings);
  compiled_ = std::make_shared<compiled const>(plain, tools, settings.names(), limits);
}

REDCO_INLINE chat_template::chat_template(std::string const& jinja, special_names const& names, std::string source,
                                          chat_limits limits)
    : compiled_(std::make_shared<compiled const>(detail::named_template{jinja, std::move(source)}, std::nullopt, names,
                                                 limits)) {}

REDCO_INLINE std::string chat_template::text(std::span<chat_message const> messages, bool asks,
                                             std::string const& variables) const {
  auto const render = [&](std::size_t) {
    json::json_value const extra = detail::variables_in(variables);
    detail::chat_renderer const& renderer = compiled_->renderer(extra);
    json::json_value const objects = detail::objects_for(renderer, messages, asks, extra);
    std::string whole = renderer.text(objects, asks, extra);
    renderer.check_values(whole, objects, asks, extra);
    return whole;
  };
  detail::child_results done = detail::bounded_child::run(1, render, compiled_->limits);
  detail::check_done(done, compiled_->plain->source());
  return std::move(done.results.front());
}

REDCO_INLINE chat_text chat_template::marked_text(std::span<chat_message const> messages, std::size_t first,
                                                  std::string const& variables) const {
  chat_request const one{messages, first, variables};
  return std::move(marked_texts({&one, 1}).front());
}

REDCO_INLINE std::vector<chat_text> chat_template::marked_texts(std::span<chat_request const> requests) const {
  auto const render = [&](std::size_t i) {
    chat_request const& one = requests[i];
    json::json_value const extra = detail::variables_in(one.variables);
    return detail::packed_text(detail::marked_by(compiled_->renderer(extra), one.messages, one.first, extra));
  };
  detail::child_results const done = detail::bounded_child::run(requests.size(), render, compiled_->limits);
  if (done.failure) detail::check_done(done, compiled_->plain->source(), requests[done.results.size()].where);
  std::vector<chat_text> texts;
  for (std::string const& one : done.results) texts.push_back(detail::unpacked_text(one));
  return texts;
}

REDCO_INLINE marked_ids marked_ids_of(any_tokenizer const& tokenizer, chat_text const& text) {
  marked_ids result{tokenizer.encode(text.text, {.add_special = false}), {}};
  result.trained.assign(result.ids.size(), false);
  for (auto const& [begin, end] : text.answers) {
    bool cut = false;
    std::size_t const from = detail::ids_before(tokenizer, result.ids, text.text, begin, cut);
    std::size_t to = detail::ids_before(tokenizer, result.ids, text.text, end, cut);
    if (cut) ++to;
    for (std::size_t i = from; i < std::min(to, result.ids.size()); ++i) result.trained[i] = true;
  }
  return result;
}

}  // namespace redco::tokenizer
