#pragma once

#include <redco/tokenizer/detail/json_node.hpp>
#include <redco/tokenizer/detail/lower_case.hpp>
#include <redco/tokenizer/detail/normal_form.hpp>
#include <redco/tokenizer/detail/unicode.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::detail {

/// Each code point of `text` through `each(out, c)`.
template <class Each>
std::string mapped(std::string_view text, Each const& each) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); i += utf8_size(text[i])) each(out, code_point(text.substr(i)));
  return out;
}

inline std::string lower_cased(std::string_view text) { return mapped(text, append_lower); }

inline std::string without_marks(std::string_view text) {
  return mapped(text, [](std::string& out, char32_t c) {
    if (!is_bert_mark(c)) append_code_point(out, c);
  });
}

inline std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (std::size_t at = 0;;) {
    std::size_t const found = text.find(from, at);
    out += text.substr(at, found - at);
    if (found == std::string_view::npos) return out;
    out += to;
    at = found + from.size();
  }
}

/// What a tokenizer does to a text before it splits it.
class normalizer {
 public:
  normalizer() = default;
  explicit normalizer(json_node const& node) { read(node); }

  bool empty() const { return steps_.empty(); }
  std::string operator()(std::string text) const {
    for (auto const& step : steps_) text = step(std::move(text));
    return text;
  }

 private:
  void read(json_node const& node) {
    std::string const type = node.at("type").text();
    if (type == "Sequence") {
      node.knows({"type", "normalizers"});
      for (json_node const& inner : node.at("normalizers").elements()) read(inner);
    } else if (type == "NFC" || type == "NFD") {
      node.knows({"type"});
      steps_.emplace_back([together = type == "NFC"](std::string const& text) {
        return ascii_prefix(text) == text.size() ? text : normal_form(text, together);
      });
    } else if (type == "Lowercase") {
      node.knows({"type"});
      steps_.emplace_back(lower_cased);
    } else if (type == "Prepend") {
      node.knows({"type", "prepend"});
      steps_.emplace_back(
          [what = node.at("prepend").text()](std::string const& text) { return text.empty() ? text : what + text; });
    } else if (type == "Replace") {
      node.knows({"type", "pattern", "content"});
      node.at("pattern").knows({"String"});
      std::string const from = node.at("pattern").at("String").text();
      if (from.empty()) node.refuse("replaces nothing; write the file again with the program that made it");
      steps_.emplace_back(
          [from, to = node.at("content").text()](std::string const& text) { return replaced(text, from, to); });
    } else if (type == "BertNormalizer") {
      read_bert(node);
    } else {
      node.refuse_kind("of type " + type);
    }
  }

  void read_bert(json_node const& node) {
    node.knows({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
    bool const lower = node.flag("lowercase", true);
    if (node.flag("clean_text", true)) {
      steps_.emplace_back([](std::string const& text) {
        return mapped(text, [](std::string& out, char32_t c) {
          if (is_bert_control(c)) return;
          append_code_point(out, is_white_space(c) ? U' ' : c);
        });
      });
    }
    if (node.flag("handle_chinese_chars", true)) {
      steps_.emplace_back([](std::string const& text) {
        return mapped(text, [](std::string& out, char32_t c) {
          if (is_ideograph(c)) out += ' ';
          append_code_point(out, c);
          if (is_ideograph(c)) out += ' ';
        });
      });
    }
    if (node.flag("strip_accents", lower)) {
      steps_.emplace_back([](std::string const& text) {
        return ascii_prefix(text) == text.size() ? text : without_marks(normal_form(text, false));
      });
    }
    if (lower) steps_.emplace_back(lower_cased);
  }

  std::vector<std::function<std::string(std::string)>> steps_;
};

}  // namespace redco::detail
