#pragma once

#include <redco/tokenizer/chat_template.hpp>

#include <redco/tokenizer/detail/answer_range.hpp>
#include <redco/tokenizer/detail/chat_renderer.hpp>
#include <redco/tokenizer/detail/tokenizer_settings.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

namespace redco::tokenizer::detail {

/// Returns messages as the template sees them.
inline json::json_value objects_of(std::span<chat_message const> messages) {
  json::json_value list = json::json_value::array();
  for (chat_message const& message : messages) list.push_back({{"role", message.role}, {"content", message.content}});
  return list;
}

/// Returns the chat template of a folder in Jinja, and the name of its file for error messages.
inline std::pair<std::string, std::string> chat_template_of(std::filesystem::path const& folder,
                                                            tokenizer_settings const& settings) {
  if (std::filesystem::path const file = folder / "chat_template.jinja"; is_there(file)) {
    std::ifstream in(file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (in.bad() || !in.is_open())
      throw error(exit_code::data, file.string() + " cannot be read: check its permissions");
    return {std::move(text), file.string()};
  }
  auto const found = settings.node().find("chat_template");
  if (!found)
    throw error(exit_code::data, folder.string() +
                                     " has no chat template (chat_template.jinja, or \"chat_template\" in "
                                     "tokenizer_config.json): use a model that was trained on conversations");
  if (found->value().is_string()) return {found->text(), found->location()};
  for (auto const& [index, value] : found->value().items()) {
    json_node const named(value, found->location() + "." + index);
    if (named.at("name").text() == "default") return {named.at("template").text(), named.location()};
  }
  found->refuse("has no template named \"default\"; use a folder with one");
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

struct chat_template::compiled : detail::chat_renderer {
  using detail::chat_renderer::chat_renderer;
};

REDCO_INLINE chat_template::chat_template(std::filesystem::path const& folder) {
  detail::tokenizer_settings const settings(folder);
  auto [jinja, source] = detail::chat_template_of(folder, settings);
  compiled_ = std::make_shared<compiled const>(jinja, settings.names(), std::move(source));
}

REDCO_INLINE chat_template::chat_template(std::string const& jinja, special_names const& names, std::string source)
    : compiled_(std::make_shared<compiled const>(jinja, names, std::move(source))) {}

REDCO_INLINE std::string chat_template::text(std::span<chat_message const> messages, bool asks) const {
  return compiled_->text(detail::objects_of(messages), asks);
}

REDCO_INLINE chat_text chat_template::marked_text(std::span<chat_message const> messages, std::size_t first) const {
  json::json_value const objects = detail::objects_of(messages);
  if (compiled_->marks_answers()) {
    auto [text, answers] = compiled_->marked_text(objects);
    std::size_t const before = static_cast<std::size_t>(std::count_if(
        messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(std::min(first, messages.size())),
        [](chat_message const& message) { return message.role == "assistant"; }));
    answers.erase(answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(std::min(before, answers.size())));
    return {std::move(text), std::move(answers)};
  }
  detail::answer_finder const finder(*compiled_, objects);
  chat_text whole{finder.whole(), {}};
  std::size_t before = 0;
  for (std::size_t i = first; i < messages.size(); ++i) {
    if (messages[i].role != "assistant") continue;
    auto const answer = finder.range_of(i);
    if (!answer || answer->first < before)
      throw error(exit_code::data, compiled_->source() + " does not show where message " + std::to_string(i + 1) +
                                       " of a conversation begins and ends: enclose the assistant's "
                                       "part of the template in {% generation %} and {% endgeneration %}");
    whole.answers.push_back(*answer);
    before = answer->second;
  }
  return whole;
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
