#pragma once

#include <redco/tokenizer/detail/json_node.hpp>
#include <redco/tokenizer/detail/regex.hpp>
#include <redco/tokenizer/detail/unicode.hpp>
#include <redco/tokenizer/detail/vocabulary.hpp>
#include <redco/meta/utf8.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::tokenizer::detail {

/// An added token of a vocabulary. Added tokens are searched for in a text before the text is split
/// into words.
struct added_token {
  std::string content;
  std::uint32_t id = 0;
  bool special = false;
  /// True if the token is found only where no letter or digit adjoins it.
  bool single_word = false;
  bool strips_left = false;  ///< True if white space before the token is removed from the text
  bool strips_right = false;
};

/// A searcher for the added tokens of a vocabulary in a text. Finds the leftmost token first, and
/// the longest token among those that begin at one position.
class added_tokens {
 public:
  /// Adds a token to search for. If several tokens have equal contents, only the last one is found.
  void add(added_token token) {
    trie_.add(token.content, static_cast<std::uint32_t>(tokens_.size()));
    if (token.single_word && !word_) word_.emplace(word_pattern, "added_tokens");
    tokens_.push_back(std::move(token));
  }

  /// Splits the text `whole` at its added tokens. Calls token(id) for each token and text(piece)
  /// for each non-empty piece of text between tokens, in the order of `whole`. If `find_special` is
  /// false, special tokens are treated as text.
  template <class Text, class Token>
  void split(std::string_view whole, bool find_special, Text const& text, Token const& token) const {
    std::size_t done = 0;
    for (std::size_t at = 0; at < whole.size();) {
      auto const [found, size] = match(whole.substr(at));
      std::size_t first = at;
      std::size_t last = at + size;
      at = last;
      if (found == nullptr || (found->special && !find_special)) continue;
      if (found->single_word && (ends_in_word(whole.substr(0, first)) || begins_word(whole.substr(last)))) continue;
      if (found->strips_left) {
        while (first > done && space_ends_at(whole, first)) first = before(whole, first);
      }
      if (found->strips_right) {
        while (last < whole.size() && is_white_space(meta::code_point(whole.substr(last))))
          last += meta::utf8_size(whole[last]);
      }
      if (done < first) text(whole.substr(done, first - done));
      token(found->id);
      done = last;
    }
    if (done < whole.size()) text(whole.substr(done));
  }

 private:
  static constexpr std::string_view word_pattern = "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]";

  // Returns the longest token at the beginning of `text` and its size. Without a match, returns
  // null and the number of bytes to skip.
  std::pair<added_token const*, std::size_t> match(std::string_view text) const {
    if (!trie_.begins_with(text[0])) {
      std::size_t i = 1;
      while (i < text.size() && !trie_.begins_with(text[i])) ++i;
      return {nullptr, i};
    }
    added_token const* found = nullptr;
    trie_.prefixes(text, [&](std::size_t, std::uint32_t number) { found = &tokens_[number]; });
    return {found, found == nullptr ? 1 : found->content.size()};
  }

  static std::size_t before(std::string_view text, std::size_t at) {
    do --at;
    while ((static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80);
    return at;
  }
  static bool space_ends_at(std::string_view text, std::size_t at) {
    return is_white_space(meta::code_point(text.substr(before(text, at))));
  }
  bool begins_word(std::string_view text) const {
    return !text.empty() && regex::search(*word_).find(text.substr(0, meta::utf8_size(text[0])), 0);
  }
  bool ends_in_word(std::string_view text) const {
    return !text.empty() && begins_word(text.substr(before(text, text.size())));
  }

  std::vector<added_token> tokens_;
  byte_trie trie_;  // token content -> index in tokens_
  std::optional<regex> word_;
};

/// A frame around a text: ids of the special tokens that a tokenizer puts before and after a text,
/// such as [CLS] and [SEP].
struct special_frame {
  std::vector<std::int64_t> before = {};
  std::vector<std::int64_t> after = {};

  /// Reads the post_processor of a tokenizer.json. If it is a Sequence of post-processors, the
  /// tokens of a later one enclose the tokens of the earlier ones.
  void read(json_node const& node) {
    std::string const type = node.at("type").text();
    if (type == "Sequence") {
      node.knows({"type", "processors"});
      for (json_node const& inner : node.at("processors").elements()) read(inner);
    } else if (type == "ByteLevel") {
      // Changes only offsets, which redco does not compute
      node.knows({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    } else if (type == "TemplateProcessing") {
      read_template(node);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      node.knows({"type", "sep", "cls", "trim_offsets", "add_prefix_space"});
      before.insert(before.begin(), named_id(node.at("cls")));
      after.push_back(named_id(node.at("sep")));
    } else {
      node.refuse_kind("of type " + type);
    }
  }

 private:
  static std::int64_t named_id(json_node const& pair) {
    auto const parts = pair.elements();
    if (parts.size() != 2)
      pair.refuse("should be a token and its id; write the file again with the program that made it");
    return parts[1].number();
  }

  void read_template(json_node const& node) {
    node.knows({"type", "single", "pair", "special_tokens"});
    special_frame mine;
    bool text_seen = false;
    for (json_node const& piece : node.at("single").elements()) {
      if (auto const special = piece.find("SpecialToken")) {
        json_node const tokens = node.at("special_tokens");
        for (json_node const& id : tokens.at(special->at("id").text()).at("ids").elements())
          (text_seen ? mine.after : mine.before).push_back(id.number());
      } else if (piece.find("Sequence") && !text_seen) {
        text_seen = true;
      } else {
        piece.refuse_kind("a piece other than SpecialToken and one Sequence");
      }
    }
    if (!text_seen)
      node.refuse("does not contain the text of the input; write the file again with the program that made it");
    before.insert(before.begin(), mine.before.begin(), mine.before.end());
    after.insert(after.end(), mine.after.begin(), mine.after.end());
  }
};

}  // namespace redco::tokenizer::detail
