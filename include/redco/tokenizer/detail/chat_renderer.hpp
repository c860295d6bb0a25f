#pragma once

#include <redco/tokenizer/detail/chat_marks.hpp>
#include <redco/tokenizer/detail/jinja.hpp>
#include <redco/tokenizer/detail/safe_texts.hpp>
#include <redco/tokenizer/tokenizer.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::tokenizer::detail {

/// A chat template with the variables that transformers gives to it.
class chat_renderer {
 public:
  /// Parses a template. `special`: contents of bos_token, eos_token, pad_token and unk_token.
  /// `source`: name of the template, for error messages.
  chat_renderer(std::string const& jinja, special_names const& special, std::string source)
      : source_(std::move(source)), jinja_(jinja), names_(special), plain_(jinja, source_) {
    std::string const begins = marked_before(jinja, "generation", begin_mark);
    if (begins != jinja) marked_.emplace(marked_before(begins, "endgeneration", end_mark), source_);
  }

  std::string const& source() const { return source_; }

  /// Returns true if the template encloses answers in `{% generation %}` and `{% endgeneration %}`.
  bool marks_answers() const { return marked_.has_value(); }

  /// Returns the text of a list of messages, and the beginning of an answer if `asks`. `extra`:
  /// further variables of the template, such as "tools".
  std::string text(json::json_value const& messages, bool asks, json::json_value const& extra) const {
    return render(plain_, variables_of(messages, asks, extra));
  }

  /// Returns the text of a list of messages and the ranges of its answers. Requires
  /// marks_answers().
  unmarked_text marked_text(json::json_value const& messages, json::json_value const& extra) const {
    json::json_value variables = variables_of(messages, false, extra);
    std::vector<std::string> const marks = unused_marks(2, messages, extra);
    variables[std::string(begin_mark)] = marks[0];
    variables[std::string(end_mark)] = marks[1];
    return cut_at_marks(render(*marked_, variables), marks[0], marks[1]);
  }

  /// Returns words that occur neither in the template nor in its variables.
  std::vector<std::string> unused_marks(std::size_t count, json::json_value const& messages,
                                        json::json_value const& extra) const {
    return unused_words(count, {jinja_, names_.begin, names_.end, names_.padding, names_.unknown,
                                json::dump_json(messages), json::dump_json(extra)});
  }

  /// Throws `error` with exit code 65 for tools in a template that escapes their JSON (`| safe`).
  void check_tools(json::json_value const& extra) const {
    if (extra.value("tools", json::json_value()).is_null() || !adds_safe_texts(jinja_)) return;
    throw error(exit_code::data, source_ +
                                     " adds a text to one that is marked as safe (\"| safe\"), which escapes the "
                                     "first text: leave \"tools\" out, or remove this filter");
  }

  /// Throws `error` with exit code 65 if `text` has values that Jinja would refuse to append to a
  /// text. These are missing content, and the arguments of a tool call as an object.
  void check_values(std::string const& text, json::json_value const& messages, bool asks,
                    json::json_value const& extra) const {
    json::json_value filled = messages;
    std::size_t missing = 0;
    for (std::size_t i = messages.size(); i-- > 0;) {
      if (messages[i].contains("content") && messages[i]["content"].is_null())
        missing = i + 1, filled[i]["content"] = "";
      auto const calls = messages[i].find("tool_calls");
      for (json::json_value const& call : calls == messages[i].end() ? json::json_value::array() : *calls)
        for (json::json_value const& one : {call, call.value("function", json::json_value::object())})
          if (auto const at = one.find("arguments"); at != one.end() && at->is_object() && !at->empty() &&
                                                     text.find(jinja_template::printed(*at)) != std::string::npos)
            throw error(exit_code::data, source_ + " writes the arguments of a tool call of message " +
                                             std::to_string(i + 1) + " as " + jinja_template::printed(*at) +
                                             R"(: write "arguments" as a text with JSON)");
    }
    check_nulls(text, messages, asks, extra);
    if (missing == 0 || occurrences("None", text) == 0) return;
    std::string without;
    try {
      without = this->text(filled, asks, extra);
    } catch (error const&) {
      return;
    }
    if (occurrences("None", without) < occurrences("None", text))
      throw error(exit_code::data, source_ + " writes the missing content of message " + std::to_string(missing) +
                                       R"( as "None": write "content": "" in this message)");
  }

 private:
  /// Replaces each null in `value` by `mark`. Returns true if there was one.
  static bool mark_nulls(json::json_value& value, std::string const& mark) {
    bool any = value.is_null();
    if (any) value = mark;
    if (value.is_structured())
      for (json::json_value& one : value) any = mark_nulls(one, mark) || any;
    return any;
  }

  static std::string with_texts(std::string text, std::string_view old, std::string_view fresh) {
    for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + fresh.size()))
      text.replace(at, old.size(), fresh);
    return text;
  }

  /// Throws `error` with exit code 65 if a null of a tool or a call changes the text in another way
  /// than in Jinja. Jinja writes null as "None", and null is a defined value. A text with marks in
  /// the place of nulls shows the difference. Templates that test for none are not checked.
  void check_nulls(std::string const& text, json::json_value const& messages, bool asks,
                   json::json_value const& extra) const {
    json::json_value marked = messages, variables = extra;
    std::string const mark = unused_marks(1, messages, extra).front();
    bool any = variables.contains("tools") && mark_nulls(variables["tools"], mark);
    for (json::json_value& message : marked) {
      if (!message.contains("tool_calls") || !message["tool_calls"].is_array()) continue;
      for (json::json_value& call : message["tool_calls"])
        if (json::json_value& one = call.contains("function") ? call["function"] : call; one.contains("arguments"))
          any = mark_nulls(one["arguments"], mark) || any;
    }
    if (!any || has_word(jinja_, "none")) return;
    std::string with_marks;
    try {
      with_marks = this->text(marked, asks, variables);
    } catch (error const&) {
      return;
    }
    std::string const json = with_texts(std::move(with_marks), "\"" + mark + "\"", "null");
    // A template may write a text in another way than null: null as JSON, and the mark as it is.
    if (with_texts(json, mark, "None") != text && with_texts(json, mark, "null") != text)
      throw error(exit_code::data, source_ +
                                       " treats null in \"tools\" or in the arguments of a tool call in a way that is "
                                       "not computed here: leave keys without a value out");
  }

  static std::size_t occurrences(std::string_view word, std::string_view text) {
    std::size_t count = 0;
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++count;
    return count;
  }

  /// Calls `use` for each empty object of a schema or a call, and counts empty lists.
  template <class Value, class Use>
  static std::size_t each_empty_object(Value& value, Use const& use) {
    std::size_t lists = value.is_array() && value.empty() ? 1 : 0;
    if (!value.is_structured()) return lists;
    for (auto one = value.begin(); one != value.end(); ++one) {
      bool const named =
          value.is_object() && (one.key() == "properties" || one.key() == "parameters" || one.key() == "arguments");
      if (named && one->is_object() && one->empty()) {
        use(*one);
      } else {
        lists += each_empty_object(*one, use);
      }
    }
    return lists;
  }

  static std::string with_braces(std::string text) {
    for (std::size_t at = text.find("[]"); at != std::string::npos; at = text.find("[]", at + 2))
      text.replace(at, 2, "{}");
    return text;
  }

  /// Renders a template. An empty object is false in Jinja and true in minja. A text that depends
  /// on this is rendered with empty lists in the place of empty objects.
  std::string render(jinja_template const& which, json::json_value const& variables) const {
    std::size_t objects = 0;
    std::size_t const lists = each_empty_object(variables, [&](json::json_value const&) { ++objects; });
    std::string text = which.render(variables);
    if (objects == 0) return text;
    json::json_value other = variables;
    each_empty_object(other, [](json::json_value& one) { one = json::json_value::array(); });
    std::string falsy;
    try {
      falsy = which.render(other, "{}");
    } catch (error const&) {
      return text;
    }
    if (with_braces(falsy) == with_braces(text)) return text;
    if (lists > 0 && falsy != which.render(other, "[]"))
      throw error(exit_code::data, source_ +
                                       " tests an empty object, and writes an empty list as JSON, which is not "
                                       "computed here: leave empty lists out of \"tools\"");
    return falsy;
  }

  json::json_value variables_of(json::json_value const& messages, bool asks, json::json_value const& extra) const {
    json::json_value variables = json::json_value::object();
    variables["messages"] = messages;
    variables["tools"] = nullptr;
    variables["documents"] = nullptr;
    variables["add_generation_prompt"] = asks;
    for (auto const& [key, content] : {std::pair("bos_token", names_.begin), std::pair("eos_token", names_.end),
                                       std::pair("pad_token", names_.padding), std::pair("unk_token", names_.unknown)})
      if (!content.empty()) variables[key] = content;
    for (auto const& [key, value] : extra.items()) variables[key] = value;
    return variables;
  }

  std::string source_, jinja_;
  special_names names_;
  jinja_template plain_;
  std::optional<jinja_template> marked_;  ///< the template with marks around answers
};

}  // namespace redco::tokenizer::detail
