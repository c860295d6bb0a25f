#pragma once

#include <redco/tokenizer/detail/template_nesting.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redco::tokenizer::detail {

/// Returns the code point number `index` of a UTF-8 text; a negative index counts from the end.
/// Empty if the text has no such code point.
inline std::string code_point_of(std::string_view text, std::int64_t index) {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) begins.push_back(i);
  auto const count = static_cast<std::int64_t>(begins.size());
  if (index < 0) index += count;
  if (index < 0 || index >= count) return {};
  begins.push_back(text.size());
  auto const at = static_cast<std::size_t>(index);
  return std::string(text.substr(begins[at], begins[at + 1] - begins[at]));
}

/// Writes a template with a call of a function in the place of each subscript: `value[index]`
/// becomes `(function(value, index))`. Slices, and subscripts that begin with a quoted text, do not
/// change.
class subscript_calls {
 public:
  /// Returns the changed template.
  static std::string in(std::string_view text, std::string_view function) {
    subscript_calls calls(text, function);
    while (calls.at_ < text.size()) calls.in_code_ ? calls.read_code() : calls.read_text();
    return std::move(calls.out_);
  }

 private:
  static constexpr std::size_t none = std::string::npos;  ///< there is no value before
  static constexpr std::size_t filter = none - 1;         ///< the word before is a filter

  struct bracket {
    std::size_t at;     ///< place of the bracket in the result
    std::size_t value;  ///< begin of the value before the bracket, none or filter
    bool slices = false;
  };

  subscript_calls(std::string_view text, std::string_view function) : text_(text), function_(function) {}

  void copy(std::size_t count) {
    out_ += text_.substr(at_, count);
    at_ = std::min(at_ + count, text_.size());
  }

  bool next_is(std::string_view word) const { return text_.substr(at_).starts_with(word); }

  void read_text() {
    if (next_is("{#")) {
      std::size_t const end = text_.find("#}", at_);
      return copy(end == std::string_view::npos ? text_.size() - at_ : end + 2 - at_);
    }
    in_code_ = next_is("{{") || next_is("{%");
    copy(in_code_ ? 2 : 1);
    value_ = none, before_ = ' ';
    open_.clear();
  }

  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }

  void read_code() {
    char const c = text_[at_];
    if (open_.empty() && (next_is("}}") || next_is("%}"))) {
      in_code_ = false;
      return copy(2);
    }
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') return copy(1);
    if (c == '"' || c == '\'') {
      read_quoted();
    } else if (is_word(c)) {
      read_word();
    } else if (c == '(' || c == '[' || c == '{') {
      open_.push_back({.at = out_.size(), .value = value_});
      value_ = none;
      copy(1);
    } else if ((c == ')' || c == ']' || c == '}') && !open_.empty()) {
      close(c);
    } else {
      if (c == ':' && !open_.empty()) open_.back().slices = true;
      if (c != '.') value_ = none;
      copy(1);
    }
    before_ = c;
  }

  void read_quoted() {
    value_ = out_.size();
    copy(end_of_literal(text_, at_) - at_);
  }

  void read_word() {
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    std::string_view const word = text_.substr(at_, end - at_);
    static constexpr std::array<std::string_view, 8> operators{"if", "elif", "else", "in", "not", "and", "or", "is"};
    if (before_ == '|') {
      value_ = filter;
    } else if (before_ != '.') {
      value_ = std::find(operators.begin(), operators.end(), word) == operators.end() ? out_.size() : none;
    }
    copy(word.size());
  }

  void close(char c) {
    bracket const from = open_.back();
    open_.pop_back();
    copy(1);
    value_ = from.value == none ? from.at : from.value;
    std::size_t const index = out_.find_first_not_of(" \t\r\n", from.at + 1);
    bool const is_item = c == ']' && out_[from.at] == '[' && from.value < filter && !from.slices;
    if (!is_item || out_[index] == '"' || out_[index] == '\'' || out_[index] == ']') return;
    out_.back() = ')';
    out_ += ')';
    out_.replace(from.at, 1, ", ");
    out_.insert(from.value, "(" + std::string(function_) + "(");
  }

  std::string_view text_, function_;
  std::string out_ = {};
  std::size_t at_ = 0, value_ = none;
  char before_ = ' ';  ///< first byte of the token before; blanks are no tokens
  bool in_code_ = false;
  std::vector<bracket> open_ = {};
};

}  // namespace redco::tokenizer::detail
