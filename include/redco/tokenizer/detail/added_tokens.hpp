#pragma once

#include <redco/tokenizer/detail/json_node.hpp>
#include <redco/tokenizer/detail/regex.hpp>
#include <redco/tokenizer/detail/unicode.hpp>
#include <redco/tokenizer/detail/vocabulary.hpp>
#include <redco/tokenizer/tokenizer.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/utf8.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
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
/// such as [CLS] and [SEP]. The member `pair` lists the special tokens and texts of a pair.
struct special_frame {
  /// A part of a pair: the text with index `text`, or the special token `id` if `text` is -1.
  struct piece {
    int text = -1;
    std::int64_t id = 0;
    std::int64_t type = 0;
  };

  std::vector<std::int64_t> before = {};
  std::vector<std::int64_t> after = {};
  std::vector<piece> pair = {};  // empty if the file joins no pair

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
      bool const bert = type == "BertProcessing";
      piece const sep{.id = after.back()};
      pair = {{.id = before.front()}, {.text = 0}, sep};
      if (!bert) pair.push_back(sep);
      pair.insert(pair.end(), {{.text = 1, .type = bert}, {.id = sep.id, .type = bert}});
    } else {
      node.refuse_kind("of type " + type);
    }
  }

  /// Returns the ids and types of a pair of texts, shortened to at most `most` ids unless `most` is
  /// 0. Throws the errors of `json_tokenizer::encode_pair`.
  pair_encoding joined(std::array<std::vector<std::int64_t>, 2> texts, std::int64_t most) const {
    if (pair.empty())
      throw error(exit_code::data,
                  "the tokenizer puts no special token between two texts; use the tokenizer of a "
                  "model that reads pairs, such as BERT");
    std::int64_t const room = most - std::ssize(pair) + 2;
    if (most != 0 && room < 0)
      throw error(exit_code::usage, "a pair of texts has " + std::to_string(most - room) + " special tokens, and " +
                                        std::to_string(most) + " tokens in all are allowed; allow more");
    bool const longer = texts[1].size() >= texts[0].size();
    if (std::int64_t const all = std::ssize(texts[0]) + std::ssize(texts[1]); most != 0 && all > room) {
      std::int64_t const kept = std::min(std::ssize(texts[!longer]), room / 2);
      texts[!longer].resize(static_cast<std::size_t>(kept));
      texts[longer].resize(static_cast<std::size_t>(room - kept));
    }
    pair_encoding result;
    for (piece const& one : pair) {
      if (one.text < 0) result.ids.push_back(one.id);
      else result.ids.insert(result.ids.end(), texts[one.text != 0].begin(), texts[one.text != 0].end());
      result.types.resize(result.ids.size(), one.type);
    }
    return result;
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
    for (json_node const& element : node.at("single").elements()) {
      if (auto const special = element.find("SpecialToken")) {
        json_node const tokens = node.at("special_tokens");
        for (json_node const& id : tokens.at(special->at("id").text()).at("ids").elements())
          (text_seen ? mine.after : mine.before).push_back(id.number());
      } else if (element.find("Sequence") && !text_seen) {
        text_seen = true;
      } else {
        element.refuse_kind("a piece other than SpecialToken and one Sequence");
      }
    }
    read_pair(node);
    if (!text_seen)
      node.refuse("does not contain the text of the input; write the file again with the program that made it");
    before.insert(before.begin(), mine.before.begin(), mine.before.end());
    after.insert(after.end(), mine.after.begin(), mine.after.end());
  }

  /// Reads the template of a pair. A template without special tokens, which `tokenizers` writes if
  /// none was set, counts as absent, because versions of transformers disagree about it. A template
  /// other than text A before text B counts as absent too.
  void read_pair(json_node const& node) {
    auto const list = node.find("pair");
    if (!list) return;
    std::vector<piece> all;
    int texts = 0;
    for (json_node const& one : list->elements()) {
      bool const special = one.find("SpecialToken").has_value();
      json_node const content = one.at(special ? "SpecialToken" : "Sequence");
      auto const type = content.find("type_id");
      piece next{.type = type ? type->number() : 0};
      if (!special) {
        next.text = texts++;
        if (content.at("id").text() != (next.text == 0 ? "A" : "B")) return;
        all.push_back(next);
        continue;
      }
      json_node const tokens = node.at("special_tokens");
      for (json_node const& id : tokens.at(content.at("id").text()).at("ids").elements()) {
        next.id = id.number();
        all.push_back(next);
      }
    }
    if (texts == 2 && all.size() > 2) pair = std::move(all);
  }
};

}  // namespace redco::tokenizer::detail
