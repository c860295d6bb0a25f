#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::tokenizer::detail {

/// Variables of a template that hold the marks of the begin and the end of an answer.
inline constexpr std::string_view begin_mark = "redco_answer_begins", end_mark = "redco_answer_ends";

/// A range of bytes, [first, second), of a rendered text.
using byte_range = std::pair<std::size_t, std::size_t>;

/// Returns `count` words of digits that occur in none of `texts`. A template that changes letters
/// or strips blanks does not change a word. The digit 8 occurs at the begin of a word only, so that
/// a search cannot find a word that begins in the text before it.
inline std::vector<std::string> unused_words(std::size_t count, std::initializer_list<std::string_view> texts) {
  std::vector<std::string> words;
  for (std::uint64_t number = 0x2545F4914F6CDD1D; words.size() < count; number += 0x9E3779B97F4A7C15) {
    std::string word = "8";
    for (std::uint64_t rest = number; word.size() < 17; rest >>= 3) word += static_cast<char>('0' + (rest & 7U));
    if (std::none_of(texts.begin(), texts.end(),
                     [&](std::string_view text) { return text.find(word) != std::string_view::npos; }))
      words.push_back(std::move(word));
  }
  return words;
}

/// Returns the template with the variable `mark` before each tag `{% name %}`. The mark takes over
/// how the tag strips the blanks before it: `{%-` strips all of them, `{%` those at the beginning
/// of a line.
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
    result.append(strips ? "{{- " : "{{ ").append(mark).append(" }}");
    copied = at;
  }
  result += text.substr(copied);
  return result;
}

/// A text without its marks, and the ranges between the marks.
struct unmarked_text {
  std::string text;
  std::vector<byte_range> ranges;
};

/// Removes the marks `begin` and `end` from a rendered text.
inline unmarked_text cut_at_marks(std::string_view rendered, std::string_view begin, std::string_view end) {
  unmarked_text result;
  while (true) {
    std::size_t const at = std::min(rendered.find(begin), rendered.find(end));
    result.text += rendered.substr(0, at);
    if (at == std::string_view::npos) return result;
    bool const begins = rendered.substr(at).starts_with(begin);
    if (begins) {
      result.ranges.emplace_back(result.text.size(), result.text.size());
    } else if (!result.ranges.empty()) {
      result.ranges.back().second = result.text.size();
    }
    rendered.remove_prefix(at + (begins ? begin : end).size());
  }
}

}  // namespace redco::tokenizer::detail
