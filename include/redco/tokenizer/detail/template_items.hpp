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

/// Returns true for a code point that Python's str.strip() removes.
inline bool is_python_blank(char32_t c) {
  static constexpr std::array<char32_t, 8> others{0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};
  return (c >= 0x9 && c <= 0xD) || (c >= 0x1C && c <= 0x20) || (c >= 0x2000 && c <= 0x200A) ||
         std::find(others.begin(), others.end(), c) != others.end();
}

/// Returns a UTF-8 text without the blanks at its begin and its end, as str.strip() of Python does.
inline std::string_view python_stripped(std::string_view text, bool left = true, bool right = true) {
  auto const point_at = [&](std::size_t at, std::size_t size) -> char32_t {
    auto const byte = [&](std::size_t i) { return char32_t{static_cast<unsigned char>(text[at + i])}; };
    if (size == 1) return byte(0);
    if (size == 2) return (byte(0) & 0x1FU) << 6U | (byte(1) & 0x3FU);
    return size == 3 ? (byte(0) & 0xFU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU) : char32_t{0x10FFFF};
  };
  auto const continues = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U; };
  while (left && !text.empty()) {
    std::size_t size = 1;
    while (size < text.size() && continues(size)) ++size;
    if (!is_python_blank(point_at(0, size))) break;
    text.remove_prefix(size);
  }
  while (right && !text.empty()) {
    std::size_t at = text.size() - 1;
    while (at > 0 && continues(at)) --at;
    if (!is_python_blank(point_at(at, text.size() - at))) break;
    text.remove_suffix(text.size() - at);
  }
  return text;
}

/// Writes a template of Jinja as minja reads it:
/// - `value[index]` becomes `(function(value, index))`, a call of the given function. Slices, and
///   subscripts that begin with a quoted text, do not change.
/// - `value.strip()` becomes `(redco_strip(value))`; lstrip and rstrip in the same way.
/// - `name(...).member` becomes `(name(...)).member`, and `"a" "b"` becomes `"ab"`.
/// - Blanks that begin a line before `{{` become `{{ "blanks" }}`. minja would remove them.
class template_for_minja {
 public:
  /// Returns the changed template.
  static std::string in(std::string_view text, std::string_view function) {
    template_for_minja calls(text, function);
    while (calls.at_ < text.size()) calls.in_code_ ? calls.read_code() : calls.read_text();
    return std::move(calls.out_);
  }

 private:
  static constexpr std::size_t none = std::string::npos;  ///< there is no value before
  static constexpr std::size_t filter = none - 1;         ///< the word before is a filter

  struct bracket {
    std::size_t at;          ///< place of the bracket in the result
    std::size_t value;       ///< begin of the value before the bracket, none or filter
    std::size_t dot = none;  ///< place of the point before strip, lstrip or rstrip in the result
    bool slices = false;
  };

  template_for_minja(std::string_view text, std::string_view function) : text_(text), function_(function) {}

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
    if (next_is("{{") && !next_is("{{-")) keep_blanks();
    copy(in_code_ ? 2 : 1);
    value_ = none, before_ = ' ';
    open_.clear();
  }

  /// Writes the blanks at the end of the result as an expression if they begin a line. Does nothing
  /// if a tag before the blanks strips them.
  void keep_blanks() {
    std::size_t const begin = out_.find_last_not_of(" \t") + 1, last = out_.find_last_not_of(" \t\r\n");
    if (begin == out_.size() || (begin > 0 && out_[begin - 1] != '\n')) return;
    std::string_view const before = std::string_view(out_).substr(0, last + 1);
    if (before.ends_with("-}}") || before.ends_with("-%}") || before.ends_with("-#}")) return;
    std::string const blanks = out_.substr(begin);
    out_.replace(begin, blanks.size(), "{{ \"" + blanks + "\" }}");
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
      open_.push_back({.at = out_.size(), .value = value_, .dot = c == '(' ? strip_ : none});
      value_ = none;
      copy(1);
    } else if ((c == ')' || c == ']' || c == '}') && !open_.empty()) {
      close(c);
    } else {
      if (c == ':' && !open_.empty()) open_.back().slices = true;
      if (c != '.') value_ = none;
      copy(1);
    }
    if (!is_word(c)) strip_ = none;
    if (c == '.') dot_ = out_.size() - 1;
    before_ = c;
  }

  void read_quoted() {
    char const quote = text_[at_];
    value_ = out_.size();
    copy(end_of_literal(text_, at_) - at_);
    // Quoted texts that follow each other are one text; minja refuses them.
    while (true) {
      std::size_t const next = text_.find_first_not_of(" \t\r\n", at_);
      if (next >= text_.size() || text_[next] != quote) return;
      out_.pop_back();
      at_ = next + 1;
      copy(end_of_literal(text_, next) - at_);
    }
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
    bool const strips = before_ == '.' && (word == "strip" || word == "lstrip" || word == "rstrip");
    strip_ = strips && value_ < filter ? dot_ : none;
    copy(word.size());
  }

  void close(char c) {
    bracket const from = open_.back();
    open_.pop_back();
    copy(1);
    value_ = from.value == none ? from.at : from.value;
    if (c == ')' && from.value < filter) return close_call(from);
    std::size_t const index = out_.find_first_not_of(" \t\r\n", from.at + 1);
    bool const is_item = c == ']' && out_[from.at] == '[' && from.value < filter && !from.slices;
    if (!is_item || out_[index] == '"' || out_[index] == '\'' || out_[index] == ']') return;
    out_.back() = ')';
    out_ += ')';
    out_.replace(from.at, 1, ", ");
    out_.insert(from.value, "(" + std::string(function_) + "(");
  }

  /// Changes the call that ends with the result.
  void close_call(bracket const& from) {
    if (from.dot != none) {
      if (out_.find_first_not_of(" \t\r\n", from.at + 1) != out_.size() - 1) return;
      std::size_t const name = out_.find_first_not_of(" \t\r\n", from.dot + 1);
      std::string const method = out_.substr(name, out_.find_first_of(" \t\r\n(", name) - name);
      out_.erase(from.dot);
      out_.insert(from.value, "(redco_" + method + "(");
      out_ += "))";
    } else if (std::size_t const next = text_.find_first_not_of(" \t\r\n", at_);
               next < text_.size() && text_[next] == '.' && is_word(out_[from.at - 1])) {
      out_.insert(from.value, "(");
      out_ += ')';
    }
  }

  std::string_view text_, function_;
  std::string out_ = {};
  std::size_t at_ = 0, value_ = none;
  std::size_t dot_ = none;    ///< place of the last point in the result
  std::size_t strip_ = none;  ///< place of the point if the token before is a method that strips
  char before_ = ' ';         ///< first byte of the token before; blanks are no tokens
  bool in_code_ = false;
  std::vector<bracket> open_ = {};
};

}  // namespace redco::tokenizer::detail
