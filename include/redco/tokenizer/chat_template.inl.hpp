#pragma once

#include <redco/tokenizer/chat_template.hpp>

#include <redco/tokenizer/detail/jinja.hpp>
#include <redco/tokenizer/detail/tokenizer_settings.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/trimmed.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace redco::tokenizer::detail {

// Marks of the begin and the end of an answer in a rendered text: the two last code points of
// Unicode's private planes.
inline constexpr std::string_view answer_begins = "\xF4\x8F\xBF\xBC", answer_ends = "\xF4\x8F\xBF\xBD";

/// Returns the template with a mark before each tag `{% name %}`. The mark takes over how the tag
/// strips the blanks before it: `{%-` strips all of them, `{%` those at the beginning of a line.
inline std::string marked_before(std::string_view text, std::string_view name, std::string_view mark) {
  std::string result;
  std::size_t copied = 0;
  for (std::size_t at = text.find("{%"); at != std::string_view::npos; at = text.find("{%", at + 2)) {
    std::size_t word = at + 2;
    bool const strips = word < text.size() && text[word] == '-', keeps = word < text.size() && text[word] == '+';
    if (strips || keeps) ++word;
    word = std::min(text.find_first_not_of(" \t\n", word), text.size());
    std::size_t const end = word + name.size();
    if (text.substr(word, name.size()) != name || end >= text.size() ||
        std::string_view(" \t\n-+%").find(text[end]) == std::string_view::npos)
      continue;
    std::size_t before = at;
    while (before > copied && (text[before - 1] == ' ' || text[before - 1] == '\t')) --before;
    bool const begins_line = !keeps && (before == 0 || text[before - 1] == '\n');
    result += text.substr(copied, (begins_line ? before : at) - copied);
    result.append(strips ? "{{- '" : "{{ '").append(mark).append("' }}");
    copied = at;
  }
  result += text.substr(copied);
  return result;
}

/// Removes the marks from a rendered text, and returns the text and the ranges between the marks.
inline chat_text cut_at_marks(std::string_view rendered) {
  chat_text result;
  while (true) {
    std::size_t const at = std::min(rendered.find(answer_begins), rendered.find(answer_ends));
    result.text += rendered.substr(0, at);
    if (at == std::string_view::npos) return result;
    if (rendered.substr(at).starts_with(answer_begins)) {
      result.answers.emplace_back(result.text.size(), result.text.size());
    } else if (!result.answers.empty()) {
      result.answers.back().second = result.text.size();
    }
    rendered.remove_prefix(at + answer_begins.size());
  }
}

/// Returns the number of bytes at the beginning of `a` that are equal in `b`.
inline std::size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + std::ssize(a.substr(0, b.size())), b.begin()).first - a.begin());
}

/// The texts of a template for the beginning of a conversation.
struct chat_beginning {
  std::string before;    ///< text of the messages before an answer
  std::string asked;     ///< the same messages, with the beginning of an answer
  std::string answered;  ///< text of the messages up to the answer
};

/// Returns the range of the answer `messages.back()` in the text `whole` of a longer conversation,
/// or nullopt if `whole` does not continue the beginning. `before`: end of the answer before. The
/// beginnings may end otherwise than `whole`: in "<think>", or in an end token of the conversation.
inline std::optional<std::pair<std::size_t, std::size_t>> answer_in(std::string_view whole,
                                                                    std::span<chat_message const> messages,
                                                                    chat_beginning const& texts, std::size_t before) {
  std::string_view const content = meta::trimmed(messages.back().content);
  std::size_t const begin = common_prefix(texts.asked, whole), found = whole.find(content, begin),
                    last = texts.answered.rfind(content);
  // a template that always writes the beginning of an answer
  bool const always_asks = texts.asked == texts.before && begin < texts.asked.size();
  if (always_asks || begin < before || found == std::string_view::npos || last == std::string::npos)
    return std::nullopt;
  if (messages.size() > 1) {
    std::string_view const question = meta::trimmed(messages[messages.size() - 2].content);
    if (whole.substr(before, begin - before).find(question) == std::string_view::npos) return std::nullopt;
  }
  // The text after the content, as far as it is equal when other messages follow. Two tags may
  // begin with the same bytes, such as "<|".
  std::string_view const after = whole.substr(found + content.size()),
                         closing = std::string_view(texts.answered).substr(last + content.size());
  std::size_t equal = common_prefix(closing, after);
  if (equal < closing.size() && equal < after.size()) {
    std::size_t const opens = after.substr(0, equal).find_last_of("<["),
                      closes = after.substr(0, equal).find_last_of(">]");
    if (opens != std::string_view::npos && (closes == std::string_view::npos || closes < opens)) equal = opens;
  }
  return std::pair(begin, found + content.size() + equal);
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

struct chat_template::compiled {
  compiled(std::string const& jinja, special_names const& special, std::string name)
      : source(std::move(name)), names(special), plain(jinja, source) {
    std::string const begins = detail::marked_before(jinja, "generation", detail::answer_begins);
    if (begins != jinja) marked.emplace(detail::marked_before(begins, "endgeneration", detail::answer_ends), source);
  }

  std::string render(detail::jinja_template const& which, std::span<chat_message const> messages, bool asks) const {
    json::json_value variables = json::json_value::object();
    json::json_value& list = variables["messages"] = json::json_value::array();
    for (chat_message const& message : messages) {
      json::json_value& one = list.emplace_back(json::json_value::object());
      one["role"] = message.role;
      one["content"] = message.content;
    }
    variables["tools"] = nullptr;
    variables["documents"] = nullptr;
    variables["add_generation_prompt"] = asks;
    for (auto const& [key, content] : {std::pair("bos_token", names.begin), std::pair("eos_token", names.end),
                                       std::pair("pad_token", names.padding), std::pair("unk_token", names.unknown)})
      if (!content.empty()) variables[key] = content;
    return which.render(variables);
  }

  std::string source;
  special_names names;
  detail::jinja_template plain;
  /// The template with marks around answers; empty without `{% generation %}`.
  std::optional<detail::jinja_template> marked;
};

REDCO_INLINE chat_template::chat_template(std::filesystem::path const& folder) {
  detail::tokenizer_settings const settings(folder);
  auto [jinja, source] = detail::chat_template_of(folder, settings);
  compiled_ = std::make_shared<compiled const>(jinja, settings.names(), std::move(source));
}

REDCO_INLINE chat_template::chat_template(std::string const& jinja, special_names const& names, std::string source)
    : compiled_(std::make_shared<compiled const>(jinja, names, std::move(source))) {}

REDCO_INLINE std::string chat_template::text(std::span<chat_message const> messages, bool asks) const {
  return compiled_->render(compiled_->plain, messages, asks);
}

REDCO_INLINE chat_text chat_template::marked_text(std::span<chat_message const> messages, std::size_t first) const {
  if (compiled_->marked) {
    chat_text whole = detail::cut_at_marks(compiled_->render(*compiled_->marked, messages, false));
    std::size_t const before = static_cast<std::size_t>(std::count_if(
        messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(std::min(first, messages.size())),
        [](chat_message const& message) { return message.role == "assistant"; }));
    whole.answers.erase(whole.answers.begin(),
                        whole.answers.begin() + static_cast<std::ptrdiff_t>(std::min(before, whole.answers.size())));
    return whole;
  }
  chat_text whole{text(messages), {}};
  std::size_t before = 0;
  for (std::size_t i = first; i < messages.size(); ++i) {
    if (messages[i].role != "assistant") continue;
    auto const answer = detail::answer_in(
        whole.text, messages.first(i + 1),
        {text(messages.first(i)), text(messages.first(i), true), text(messages.first(i + 1))}, before);
    if (!answer)
      throw error(exit_code::data, compiled_->source + " does not show where message " + std::to_string(i + 1) +
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
