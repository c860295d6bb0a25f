#pragma once

#include <redco/tokenizer/detail/bpe.hpp>
#include <redco/tokenizer/detail/json_node.hpp>
#include <redco/tokenizer/detail/normalizer.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::tokenizer::detail {

/// Returns the byte that a byte-fallback token such as <0x0A> represents. Returns any other token
/// unchanged.
inline std::string fallback_byte(std::string const& token) {
  auto const digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; };
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return token;
  if (digit(token[3]) < 0 || digit(token[4]) < 0) return token;
  return std::string(1, static_cast<char>(digit(token[3]) * 16 + digit(token[4])));
}

/// The decoder of a tokenizer.json, which converts each token to the bytes that it represents in a
/// text.
class token_decoder {
 public:
  /// Reads the decoder of a tokenizer.json. If `node` is nullopt (no decoder), tokens are joined by
  /// spaces.
  explicit token_decoder(std::optional<json_node> const& node) {
    if (!node) {
      add([](std::string const& token, bool first) { return first ? token : ' ' + token; });
    } else {
      read(*node);
    }
  }

  /// Returns the bytes that a token represents in a text. `first` is true for the first token of a
  /// text.
  std::string operator()(std::string token, bool first) const {
    for (auto const& step : steps_) token = step(std::move(token), first);
    return token;
  }

  /// Returns true if a token may represent different bytes at the beginning of a text than later in
  /// the text.
  bool minds_first() const { return minds_first_; }

 private:
  template <class Step>
  void add(Step step) {
    minds_first_ = true;
    steps_.emplace_back(std::move(step));
  }
  template <class Step>
  void add_anywhere(Step step) {
    steps_.emplace_back([step](std::string token, bool) { return step(std::move(token)); });
  }

  void read(json_node const& node) {
    std::string const type = node.at("type").text();
    if (type == "Sequence") {
      node.knows({"type", "decoders"});
      for (json_node const& inner : node.at("decoders").elements()) read(inner);
    } else if (type == "ByteLevel") {
      node.knows({"type", "add_prefix_space", "trim_offsets", "use_regex"});
      add_anywhere([](std::string const& token) { return bytes_of(token); });
    } else if (type == "ByteFallback") {
      node.knows({"type"});
      add_anywhere([](std::string const& token) { return fallback_byte(token); });
    } else if (type == "Fuse") {
      node.knows({"type"});
      fused_ = true;
    } else if (type == "Replace") {
      node.knows({"type", "pattern", "content"});
      node.at("pattern").knows({"String"});
      std::string const from = node.at("pattern").at("String").text();
      if (from.empty()) node.refuse("replaces nothing; write the file again with the program that made it");
      add_anywhere(
          [from, to = node.at("content").text()](std::string const& token) { return replaced(token, from, to); });
    } else if (type == "Strip") {
      read_strip(node);
    } else if (type == "WordPiece") {
      node.knows({"type", "prefix", "cleanup"});
      auto const prefix = node.find("prefix");
      add([prefix = prefix ? prefix->text() : "##"](std::string const& token, bool first) {
        if (first) return token;
        return token.starts_with(prefix) ? token.substr(prefix.size()) : ' ' + token;
      });
      if (node.flag("cleanup", true)) add_anywhere(cleaned_up);
    } else if (type == "Metaspace") {
      node.knows({"type", "replacement", "prepend_scheme", "split", "add_prefix_space", "str_rep"});
      auto const scheme = node.find("prepend_scheme");
      bool const drops = scheme ? scheme->text() != "never" : node.flag("add_prefix_space", true);
      add([mark = node.at("replacement").text(), drops](std::string const& token, bool first) {
        return mark.empty() ? token : replaced(token, mark, first && drops ? "" : " ");
      });
    } else {
      node.refuse_kind("of type " + type);
    }
  }

  // Removes `content` up to `start` times from the beginning of each token or, if a Fuse step
  // precedes, only from the beginning of the text.
  void read_strip(json_node const& node) {
    node.knows({"type", "content", "start", "stop"});
    if (node.at("stop").number() != 0) node.refuse_kind("stop");
    auto const strip = [content = node.at("content").text(), start = node.at("start").number()](std::string token) {
      for (std::uint32_t n = 0; n < start && !content.empty() && token.starts_with(content); ++n)
        token.erase(0, content.size());
      return token;
    };
    if (!fused_) return add_anywhere(strip);
    add([strip](std::string token, bool first) { return first ? strip(std::move(token)) : token; });
  }

  static std::string cleaned_up(std::string token) {
    constexpr std::pair<std::string_view, std::string_view> changes[] = {
        {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
        {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (auto const& [from, to] : changes) token = replaced(token, from, to);
    return token;
  }

  std::vector<std::function<std::string(std::string, bool)>> steps_;
  bool minds_first_ = false;
  bool fused_ = false;
};

}  // namespace redco::tokenizer::detail
