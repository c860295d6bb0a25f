#pragma once

#include <redco/tokenizer/detail/chat_marks.hpp>
#include <redco/tokenizer/detail/jinja.hpp>
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

  /// Returns the text of a list of messages, and the beginning of an answer if `asks`.
  std::string text(json::json_value const& messages, bool asks) const {
    return plain_.render(variables_of(messages, asks));
  }

  /// Returns the text of a list of messages and the ranges of its answers. Requires
  /// marks_answers().
  unmarked_text marked_text(json::json_value const& messages) const {
    json::json_value variables = variables_of(messages, false);
    std::vector<std::string> const marks = unused_marks(2, messages);
    variables[std::string(begin_mark)] = marks[0];
    variables[std::string(end_mark)] = marks[1];
    return cut_at_marks(marked_->render(variables), marks[0], marks[1]);
  }

  /// Returns words that occur neither in the template nor in the messages.
  std::vector<std::string> unused_marks(std::size_t count, json::json_value const& messages) const {
    return unused_words(count,
                        {jinja_, names_.begin, names_.end, names_.padding, names_.unknown, json::dump_json(messages)});
  }

 private:
  json::json_value variables_of(json::json_value const& messages, bool asks) const {
    json::json_value variables = json::json_value::object();
    variables["messages"] = messages;
    variables["tools"] = nullptr;
    variables["documents"] = nullptr;
    variables["add_generation_prompt"] = asks;
    for (auto const& [key, content] : {std::pair("bos_token", names_.begin), std::pair("eos_token", names_.end),
                                       std::pair("pad_token", names_.padding), std::pair("unk_token", names_.unknown)})
      if (!content.empty()) variables[key] = content;
    return variables;
  }

  std::string source_, jinja_;
  special_names names_;
  jinja_template plain_;
  std::optional<jinja_template> marked_;  ///< the template with marks around answers
};

}  // namespace redco::tokenizer::detail
