#pragma once

#include <redco/tokenizer/detail/charsmap.hpp>
#include <redco/tokenizer/detail/json_node.hpp>
#include <redco/tokenizer/detail/regex.hpp>
#include <redco/tokenizer/detail/unicode.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::tokenizer::detail {

/// Returns the text that results from calls of `each(out, c)` for all code points `c` of `text`.
/// `each` appends its replacement of `c` to `out`.
template <class Each>
std::string mapped(std::string_view text, Each const& each) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); i += meta::utf8_size(text[i])) each(out, meta::code_point(text.substr(i)));
  return out;
}

inline std::string lower_cased(std::string_view text) { return mapped(text, append_lower); }

inline std::string without_marks(std::string_view text) {
  return mapped(text, [](std::string& out, char32_t c) {
    if (!is_bert_mark(c)) meta::append_code_point(out, c);
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

/// Returns `text` with each non-empty match of the regular expression `from` replaced by `to`.
inline std::string replaced(std::string_view text, regex const& from, std::string_view to) {
  regex::search search(from);
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size() && search.find(text, at);) {
    if (search.begin() == search.end()) {
      if (search.end() == text.size()) break;
      at = search.end() + meta::utf8_size(text[search.end()]);
      continue;
    }
    out += text.substr(done, search.begin() - done);
    out += to;
    done = at = search.end();
  }
  return out += text.substr(done);
}

/// Returns `text` without white space at its beginning if `left` is true, and without white space
/// at its end if `right` is true.
inline std::string stripped(std::string_view text, bool left, bool right) {
  while (left && !text.empty() && is_white_space(meta::code_point(text))) text.remove_prefix(meta::utf8_size(text[0]));
  for (std::size_t last; right && !text.empty(); text = text.substr(0, last)) {
    last = text.size() - 1;
    while ((static_cast<unsigned char>(text[last]) & 0xC0U) == 0x80) --last;
    if (!is_white_space(meta::code_point(text.substr(last)))) break;
  }
  return std::string(text);
}

/// Returns `text` without control characters, and with each kind of white space replaced by a plain
/// space (rule nmt of SentencePiece).
inline std::string nmt_cleaned(std::string_view text) {
  return mapped(text, [](std::string& out, char32_t c) {
    bool const dropped =
        (c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
    bool const space = c == 9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 || (c >= 0x200B && c <= 0x200F) ||
                       c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
    if (!dropped) meta::append_code_point(out, space ? U' ' : c);
  });
}

/// The normalizer of a tokenizer.json: replacements in a text before the text is split into words.
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
    } else if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
      node.knows({"type"});
      steps_.emplace_back([together = type.ends_with('C'), compatible = type.size() == 4](std::string const& text) {
        return meta::ascii_prefix(text) == text.size() ? text : normal_form(text, together, compatible);
      });
    } else if (type == "Precompiled") {
      node.knows({"type", "precompiled_charsmap"});
      steps_.emplace_back([map = std::make_shared<charsmap const>(node.at("precompiled_charsmap"))](
                              std::string const& text) { return (*map)(text); });
    } else if (type == "Nmt") {
      node.knows({"type"});
      steps_.emplace_back(nmt_cleaned);
    } else if (type == "Strip") {
      node.knows({"type", "strip_left", "strip_right"});
      steps_.emplace_back([left = node.flag("strip_left"), right = node.flag("strip_right")](std::string const& text) {
        return stripped(text, left, right);
      });
    } else if (type == "Lowercase") {
      node.knows({"type"});
      steps_.emplace_back(lower_cased);
    } else if (type == "Prepend") {
      node.knows({"type", "prepend"});
      steps_.emplace_back([prefix = node.at("prepend").text()](std::string const& text) {
        return text.empty() ? text : prefix + text;
      });
    } else if (type == "Replace") {
      node.knows({"type", "pattern", "content"});
      read_replace(node, node.at("pattern"), node.at("content").text());
    } else if (type == "BertNormalizer") {
      read_bert(node);
    } else {
      node.refuse_kind("of type " + type);
    }
  }

  void read_replace(json_node const& node, json_node const& pattern, std::string const& to) {
    pattern.knows({"String", "Regex"});
    if (auto const regular = pattern.find("Regex")) {
      steps_.emplace_back([compiled = std::make_shared<regex const>(regular->text(), node.location()),
                           to](std::string const& text) { return replaced(text, *compiled, to); });
      return;
    }
    std::string const from = pattern.at("String").text();
    if (from.empty()) node.refuse("replaces nothing; write the file again with the program that made it");
    steps_.emplace_back([from, to](std::string const& text) { return replaced(text, from, to); });
  }

  void read_bert(json_node const& node) {
    node.knows({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
    bool const lower = node.flag("lowercase", true);
    if (node.flag("clean_text", true)) {
      steps_.emplace_back([](std::string const& text) {
        return mapped(text, [](std::string& out, char32_t c) {
          if (is_bert_control(c)) return;
          meta::append_code_point(out, is_white_space(c) ? U' ' : c);
        });
      });
    }
    if (node.flag("handle_chinese_chars", true)) {
      steps_.emplace_back([](std::string const& text) {
        return mapped(text, [](std::string& out, char32_t c) {
          if (is_ideograph(c)) out += ' ';
          meta::append_code_point(out, c);
          if (is_ideograph(c)) out += ' ';
        });
      });
    }
    if (node.flag("strip_accents", lower)) {
      steps_.emplace_back([](std::string const& text) {
        return meta::ascii_prefix(text) == text.size() ? text : without_marks(normal_form(text, false));
      });
    }
    if (lower) steps_.emplace_back(lower_cased);
  }

  std::vector<std::function<std::string(std::string)>> steps_;
};

}  // namespace redco::tokenizer::detail
