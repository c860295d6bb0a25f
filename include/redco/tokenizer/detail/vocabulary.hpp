#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace redco::tokenizer::detail {

/// A vocabulary: a map from tokens to ids and from ids to tokens.
class vocabulary {
 public:
  /// Builds a vocabulary from pairs of a token and its id. Neither a token nor an id may occur
  /// twice.
  explicit vocabulary(std::vector<std::pair<std::string, std::uint32_t>> entries) : entries_(std::move(entries)) {
    by_text_.reserve(entries_.size());
    for (auto const& [text, id] : entries_) by_text_.emplace(text, id);
  }
  vocabulary(vocabulary const&) = delete;  // not copyable, because the views point into the entries
  vocabulary& operator=(vocabulary const&) = delete;

  std::optional<std::uint32_t> find(std::string_view text) const {
    auto const found = by_text_.find(text);
    if (found == by_text_.end()) return std::nullopt;
    return found->second;
  }

  std::vector<std::pair<std::string, std::uint32_t>> const& entries() const { return entries_; }

 private:
  std::vector<std::pair<std::string, std::uint32_t>> entries_;
  std::unordered_map<std::string_view, std::uint32_t> by_text_;
};

/// A hash table of the merges of a byte-pair-encoding model: pair of adjacent tokens -> merged
/// token and rank.
class merge_table {
 public:
  struct merge {
    std::uint64_t pair = none;
    std::uint32_t rank = 0;  ///< Rank of the merge: merges of smaller rank are applied first
    std::uint32_t id = 0;    ///< Id of the token that results from the merge
  };

  explicit merge_table(std::size_t merges = 0) {
    std::size_t size = 16;
    while (size < 2 * merges) size *= 2;
    slots_.resize(size);
  }

  /// Adds the merge of the tokens `left` and `right`. A later merge of an equal pair replaces the
  /// earlier one. Must not be called more often than the number of merges given to the constructor.
  void add(std::uint32_t left, std::uint32_t right, std::uint32_t rank, std::uint32_t id) {
    std::uint64_t const pair = key(left, right);
    slots_[slot_of(pair)] = {pair, rank, id};
  }

  /// Returns the merge of the adjacent tokens `left` and `right`, or null if they do not merge.
  merge const* find(std::uint32_t left, std::uint32_t right) const {
    merge const& found = slots_[slot_of(key(left, right))];
    return found.pair == none ? nullptr : &found;
  }

 private:
  // No valid pair, because ids are smaller than 2^32 - 1
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  static std::uint64_t key(std::uint32_t left, std::uint32_t right) { return std::uint64_t{left} << 32 | right; }

  std::size_t slot_of(std::uint64_t pair) const {
    std::size_t const mask = slots_.size() - 1;
    std::uint64_t const hash = pair * 0x9E3779B97F4A7C15U;
    std::size_t at = static_cast<std::size_t>(hash ^ hash >> 32) & mask;
    while (slots_[at].pair != none && slots_[at].pair != pair) at = (at + 1) & mask;
    return at;
  }

  std::vector<merge> slots_;
};

/// A map from byte strings (keys) to numbers that finds all keys at the beginning of a text.
class byte_trie {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// Maps the key `text`, which must not be empty, to `number`. A later call with an equal text
  /// replaces the number.
  void add(std::string_view text, std::uint32_t number) {
    std::uint32_t node = 0;
    for (char const c : text) {
      auto const [edge, fresh] = edges_.try_emplace(key(node, c), static_cast<std::uint32_t>(numbers_.size()));
      if (fresh) numbers_.push_back(none);
      node = edge->second;
    }
    begins_[static_cast<unsigned char>(text[0])] = true;
    numbers_[node] = number;
  }

  bool begins_with(char c) const { return begins_[static_cast<unsigned char>(c)]; }

  /// Calls found(size, number) for each key of the map with which `text` begins, the shortest key
  /// first. `size` is the length of the key in bytes.
  template <class Found>
  void prefixes(std::string_view text, Found const& found) const {
    std::uint32_t node = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      auto const edge = edges_.find(key(node, text[i]));
      if (edge == edges_.end()) return;
      node = edge->second;
      if (numbers_[node] != none) found(i + 1, numbers_[node]);
    }
  }

 private:
  static std::uint64_t key(std::uint32_t node, char c) {
    return std::uint64_t{node} << 8 | static_cast<unsigned char>(c);
  }

  std::unordered_map<std::uint64_t, std::uint32_t> edges_;
  std::vector<std::uint32_t> numbers_ = {none};  // node -> number of the key that ends at this node
  bool begins_[256] = {};
};

}  // namespace redco::tokenizer::detail
