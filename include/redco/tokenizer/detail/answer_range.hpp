#pragma once

#include <redco/tokenizer/detail/chat_renderer.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::tokenizer::detail {

inline constexpr std::string_view chat_blanks = " \t\r\n";

/// Returns the index of the tag that `text` cuts, or the size of `text` if its last tag is whole.
inline std::size_t cut_tag(std::string_view text) {
  std::size_t const opens = text.find_last_of("<["), closes = text.find_last_of(">]");
  bool const within = opens != std::string_view::npos && (closes == std::string_view::npos || closes < opens);
  return within ? opens : text.size();
}

/// Returns the number of bytes at the beginning of `a` that are equal in `b`, in whole tags and
/// code points. Two different tags may begin with equal bytes, such as "<|". A text that ends
/// within the other one is not cut.
inline std::size_t common_tags(std::string_view a, std::string_view b) {
  std::size_t equal = static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + std::ssize(a.substr(0, b.size())), b.begin()).first - a.begin());
  if (equal == a.size() || equal == b.size()) return equal;
  while (equal > 0 && (static_cast<unsigned char>(a[equal]) & 0xC0U) == 0x80U) --equal;
  return cut_tag(a.substr(0, equal));
}

/// Returns the end of the tag "<...>" or "[...]" that is the first after `from`, or npos.
inline std::size_t end_of_tag(std::string_view text, std::size_t from = 0) {
  std::size_t const opens = text.find_first_of("<[", from);
  if (opens == std::string_view::npos) return opens;
  std::size_t const closes = text.find(text[opens] == '<' ? '>' : ']', opens);
  return closes == std::string_view::npos ? closes : closes + 1;
}

inline std::size_t tags_in(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = end_of_tag(text); at != std::string_view::npos; at = end_of_tag(text, at)) ++count;
  return count;
}

/// The ranges of the answers in the text of a conversation. A range is found by renderings in which
/// a mark takes the place of a message's content: the text of the answer itself is never searched.
class answer_finder {
 public:
  /// `renderer`, `messages` and `extra`, further variables of the template, must outlive the
  /// object.
  answer_finder(chat_renderer const& renderer, json::json_value const& messages, json::json_value const& extra)
      : renderer_(renderer), messages_(messages), extra_(extra), whole_(renderer.text(messages, false, extra)) {
    auto words = renderer.unused_marks(2, messages, extra);
    mark_ = std::move(words[0]);
    earlier_ = std::move(words[1]);
    json::json_value const list = json::json_value::array({question()});
    auto const asked = attempt(list, true), plain = attempt(list, false);
    if (asked && plain) request_ = asked->substr(common_tags(*asked, *plain));
  }

  std::string const& whole() const { return whole_; }

  /// Returns the range of the answer `messages[i]`: from the end of the text that asks for an
  /// answer to the end of the tag that closes it. Returns nullopt if the template hides this range.
  std::optional<byte_range> range_of(std::size_t i) const {
    for (auto const& [message, original] : variants(messages_[i]))
      if (auto const found = range_with(i, message, original)) return found;
    return range_of_prefixes(i);
  }

 private:
  using text_or_refusal = std::optional<std::string>;

  /// Returns the text of messages, or nullopt if the template refuses them.
  text_or_refusal attempt(json::json_value const& messages, bool asks) const {
    try {
      return renderer_.text(messages, asks, extra_);
    } catch (error const&) {
      return std::nullopt;
    }
  }

  json::json_value first(std::size_t count) const {
    json::json_value some = json::json_value::array();
    for (std::size_t i = 0; i < count; ++i) some.push_back(messages_[i]);
    return some;
  }

  static json::json_value followed(json::json_value list, json::json_value const& message) {
    list.push_back(message);
    return list;
  }

  static json::json_value question() { return {{"role", "user"}, {"content", "a"}}; }

  /// Returns a message whose content is `mark`.
  static json::json_value with_content(json::json_value message, std::string const& mark) {
    auto const content = message.find("content");
    bool const parts = content != message.end() && content->is_array();
    json::json_value list = json::json_value::array({{{"type", "text"}, {"text", mark}}});
    message["content"] = parts ? std::move(list) : json::json_value(mark);
    return message;
  }

  /// Returns copies of an answer with a mark in the place of a text, and this text. The text is the
  /// content, or the name of the last tool that a message without content calls.
  std::vector<std::pair<json::json_value, std::string>> variants(json::json_value const& message) const {
    std::vector<std::pair<json::json_value, std::string>> all;
    auto const content = message.find("content"), calls = message.find("tool_calls");
    bool const has_calls = calls != message.end() && calls->is_array() && !calls->empty();
    bool const has_content = content != message.end() && !content->is_null() && !content->empty() && *content != "";
    if (has_content || !has_calls) {
      bool const is_text = content != message.end() && content->is_string();
      all.emplace_back(with_content(message, mark_), is_text ? content->get<std::string>() : std::string());
    }
    if (!has_calls || !calls->back().is_object()) return all;
    json::json_value called = message;
    json::json_value& call = called["tool_calls"].back();
    json::json_value& function = call.contains("function") ? call["function"] : call;
    if (!function.is_object() || !function.contains("name") || !function["name"].is_string()) return all;
    std::string name = function["name"].get<std::string>();
    function["name"] = mark_;
    all.emplace_back(std::move(called), std::move(name));
    return all;
  }

  /// Returns the position of the mark number `count` (from 1) in `text`.
  std::size_t mark_number(std::string_view text, std::size_t count) const {
    std::size_t at = text.find(mark_);
    for (; count > 1 && at != std::string_view::npos; --count) at = text.find(mark_, at + mark_.size());
    return at;
  }

  /// Returns the text after the mark number `count`, with `original` in the place of later marks.
  text_or_refusal after_mark(text_or_refusal const& text, std::size_t count, std::string const& original) const {
    std::size_t const at = text ? mark_number(*text, count) : std::string::npos;
    if (at == std::string::npos) return std::nullopt;
    std::string rest = text->substr(at + mark_.size());
    for (std::size_t next = rest.find(mark_); next != std::string::npos; next = rest.find(mark_, next))
      rest.replace(next, mark_.size(), original), next += original.size();
    return rest;
  }

  /// Returns the range of `messages[i]`, found with the message `marked` in its place. The mark in
  /// `marked` takes the place of `original`.
  std::optional<byte_range> range_with(std::size_t i, json::json_value const& marked,
                                       std::string const& original) const {
    json::json_value all = messages_, upto = followed(first(i), marked);
    all[i] = marked;
    text_or_refusal const text = attempt(all, false), alone_text = attempt(upto, false);
    if (!text || !alone_text) return std::nullopt;
    std::size_t marks = 0;
    while (mark_number(*alone_text, marks + 1) != std::string::npos) ++marks;
    auto const after = after_mark(text, marks, original), alone = after_mark(alone_text, marks, original);
    if (marks == 0 || !after || !alone) return std::nullopt;
    std::string_view const before = std::string_view(*text).substr(0, text->find(mark_));
    std::optional<std::size_t> const begin = begin_in(before, i, all);
    if (!begin || whole_.compare(0, *begin, before.substr(0, *begin)) != 0 || !whole_.ends_with(*after) ||
        *begin + after->size() > whole_.size())
      return std::nullopt;
    // An answer that follows at once may begin as a conversation ends, so a question follows
    // instead.
    bool const has_next = i + 1 < messages_.size() && messages_[i + 1].value("role", "") != "assistant";
    auto const next = has_next ? after : after_mark(attempt(followed(upto, question()), false), marks, original);
    std::size_t const closing = closing_of(*alone, next, *after, i);
    return byte_range(*begin, whole_.size() - after->size() + closing);
  }

  /// Returns the size of the text that closes the answer `i`. `alone`: the text after the answer if
  /// it is the last message; `next`: this text if a message follows; `after`: the text after the
  /// answer in the conversation.
  std::size_t closing_of(std::string_view alone, text_or_refusal const& next, std::string_view after,
                         std::size_t i) const {
    std::string_view closing = alone.substr(0, next ? common_tags(alone, *next) : alone.size());
    // Some templates close the last answer in another way, such as gpt-oss by <|return|>.
    if (closing.empty() && (after.starts_with("<") || after.starts_with("[")))
      return std::min(end_of_tag(after), after.size());
    if (closing.size() < alone.size() && tags_in(closing) > 1) {
      std::string const end = end_after_answer(i);
      if (!end.empty() && alone.ends_with(end)) closing = alone.substr(0, alone.size() - end.size());
    }
    std::size_t const last = closing.find_last_not_of(chat_blanks);
    return last == std::string_view::npos ? closing.size() : last + 1;
  }

  /// Returns the text that ends a conversation after the closing tags of the answer `i`, such as
  /// the beginning of the next answer in a template that ignores `add_generation_prompt`. An answer
  /// has one closing tag more than tags before its content. Empty if this text is not found.
  std::string end_after_answer(std::size_t i) const {
    json::json_value const upto = followed(first(i), {{"role", "assistant"}, {"content", mark_}});
    auto const text = attempt(upto, false);
    auto const alone = after_mark(text, 1, ""), next = after_mark(attempt(followed(upto, question()), false), 1, "");
    if (!alone || !next) return {};
    std::string_view const before = std::string_view(*text).substr(0, text->find(mark_));
    auto const begin = begin_in(before, i, upto);
    if (!begin) return {};
    std::size_t end = 0;
    for (std::size_t tags = tags_in(before.substr(*begin)) + 1; tags > 0 && end != std::string::npos; --tags)
      end = end_of_tag(*alone, end);
    return end < common_tags(*alone, *next) ? alone->substr(end) : std::string();
  }

  /// Returns the end of the text that asks for the answer `i`. `before`: the text before the mark
  /// in the answer; `all`: the conversation with the mark.
  std::optional<std::size_t> begin_in(std::string_view before, std::size_t i, json::json_value const& all) const {
    text_or_refusal const asked = attempt(first(i), true);
    if (asked && before.starts_with(*asked)) {
      // A template may ask after a question only: the request is then a part of the answer's
      // message.
      std::string_view const added = before.substr(asked->size());
      std::size_t const at = asked->ends_with(request_) ? std::string_view::npos : added.rfind(request_);
      return asked->size() + (at == std::string_view::npos ? 0 : at + request_.size());
    }
    if (i > 0)
      if (auto const found = begin_after_message(i, all)) return before.size() - *found;
    return begin_after_request(before);
  }

  /// Returns the number of bytes between the end of the text that asks for the answer `i` and the
  /// mark in it. Compares what follows the content of the message before: in the conversation, and
  /// in the text that asks.
  std::optional<std::size_t> begin_after_message(std::size_t i, json::json_value all) const {
    all[i - 1] = with_content(all[i - 1], earlier_);
    json::json_value const upto = followed(first(i - 1), all[i - 1]);
    auto const tail = [&](text_or_refusal const& text) -> text_or_refusal {
      std::size_t const at = text ? text->rfind(earlier_) : std::string::npos;
      if (at == std::string::npos) return std::nullopt;
      return text->substr(at + earlier_.size());
    };
    auto const asking = tail(attempt(upto, true));
    auto between = tail(attempt(all, false));
    if (!asking || !between || between->find(mark_) == std::string::npos) return std::nullopt;
    between->resize(between->find(mark_));
    std::size_t const equal = common_tags(*between, *asking);
    if (equal == between->size() || equal == asking->size()) return between->size() - equal;
    // Both go on: the texts share a part of what asks, or only what closes the message before.
    auto const plain = tail(attempt(upto, false));
    if (!plain || equal <= common_tags(*plain, *asking)) return std::nullopt;
    return between->size() - equal;
  }

  /// Returns the end of the last request in `before`, or the end of `before` if it ends with the
  /// first tags of a request.
  std::optional<std::size_t> begin_after_request(std::string_view before) const {
    if (request_.empty()) return std::nullopt;
    if (std::size_t const at = before.rfind(request_); at != std::string_view::npos) return at + request_.size();
    for (std::string_view some = request_; some.size() > 1;) {
      some.remove_suffix(1);
      if (before.ends_with(some) && cut_tag(some) == some.size()) return before.size();
    }
    return std::nullopt;
  }

  /// Returns the range of an answer in which no mark is written. The range ends where the texts
  /// with and without the next message begin to differ.
  std::optional<byte_range> range_of_prefixes(std::size_t i) const {
    json::json_value const upto = first(i + 1);
    auto const asked = attempt(first(i), true), alone = attempt(upto, false);
    auto const next = i + 1 < messages_.size() ? text_or_refusal(whole_) : attempt(followed(upto, question()), false);
    if (!asked || !alone || !next) return std::nullopt;
    std::size_t const begin = common_tags(*alone, *asked);
    auto const plain = begin < asked->size() ? attempt(first(i), false) : std::string();
    if (begin < asked->size() && (!plain || begin <= common_tags(*plain, *asked))) return std::nullopt;
    std::string_view const upto_end = std::string_view(*alone).substr(0, common_tags(*alone, *next));
    std::size_t const last = upto_end.find_last_not_of(chat_blanks);
    if (last == std::string_view::npos || last < begin || !whole_.starts_with(upto_end)) return std::nullopt;
    return byte_range(begin, last + 1);
  }

  chat_renderer const& renderer_;
  json::json_value const &messages_, &extra_;
  std::string whole_, mark_, earlier_;
  std::string request_;  ///< text that asks for the answer to a question; may be empty
};

}  // namespace redco::tokenizer::detail
