#pragma once

#include <redco/tokenizer/detail/regex.hpp>
#include <redco/tokenizer/detail/unicode.hpp>
#include <redco/tokenizer/detail/utf8.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace redco::detail {

/// A token that is looked for in the text itself, before anything else happens to it.
struct added_token {
  std::string content;
  std::uint32_t id = 0;
  bool special = false;
  bool single_word = false;  ///< only where no letter or digit touches it
  bool strips_left = false;  ///< swallows white space in front of it
  bool strips_right = false;
};

/// Finds added tokens in a text: the leftmost first, and of those that begin together the longest.
class added_tokens {
 public:
  void add(added_token token) {
    std::uint32_t node = 0;
    for (char const c : token.content) {
      auto const next = static_cast<std::uint32_t>(ends_.size());
      auto const [edge, fresh] = edges_.try_emplace(key(node, c), next);
      if (fresh) ends_.push_back(none);
      node = edge->second;
    }
    begins_[static_cast<unsigned char>(token.content[0])] = true;
    ends_[node] = tokens_.size();
    if (token.single_word && !word_) word_.emplace(word_pattern, "added_tokens");
    tokens_.push_back(std::move(token));
  }

  /// Calls text(part) and token(id) in the order of `whole`, whose parts are not empty.
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
        while (last < whole.size() && is_white_space(code_point(whole.substr(last)))) last += utf8_size(whole[last]);
      }
      if (done < first) text(whole.substr(done, first - done));
      token(found->id);
      done = last;
    }
    if (done < whole.size()) text(whole.substr(done));
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  static constexpr std::string_view word_pattern = "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]";

  static std::uint64_t key(std::uint32_t node, char c) {
    return std::uint64_t{node} << 8 | static_cast<unsigned char>(c);
  }

  // The longest token at the front of `text` and its size; without one null and how far to go on.
  std::pair<added_token const*, std::size_t> match(std::string_view text) const {
    if (!begins_[static_cast<unsigned char>(text[0])]) {
      std::size_t i = 1;
      while (i < text.size() && !begins_[static_cast<unsigned char>(text[i])]) ++i;
      return {nullptr, i};
    }
    added_token const* found = nullptr;
    std::uint32_t node = 0;
    for (char const c : text) {
      auto const edge = edges_.find(key(node, c));
      if (edge == edges_.end()) break;
      node = edge->second;
      if (ends_[node] != none) found = &tokens_[ends_[node]];
    }
    return {found, found == nullptr ? 1 : found->content.size()};
  }

  static std::size_t before(std::string_view text, std::size_t at) {
    do --at;
    while ((static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80);
    return at;
  }
  static bool space_ends_at(std::string_view text, std::size_t at) {
    return is_white_space(code_point(text.substr(before(text, at))));
  }
  bool begins_word(std::string_view text) const {
    return !text.empty() && regex::search(*word_).find(text.substr(0, utf8_size(text[0])), 0);
  }
  bool ends_in_word(std::string_view text) const {
    return !text.empty() && begins_word(text.substr(before(text, text.size())));
  }

  std::vector<added_token> tokens_;
  std::unordered_map<std::uint64_t, std::uint32_t> edges_;  // a trie of bytes
  std::vector<std::size_t> ends_ = {none};                  // node -> the token that ends there
  bool begins_[256] = {};
  std::optional<regex> word_;
};

}  // namespace redco::detail
