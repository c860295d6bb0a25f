#pragma once

#include <redco/tokenizer/detail/vocabulary.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/utf8.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redco::tokenizer::detail {

/// Returns GPT-2's byte alphabet: a table from each byte to a visible character. Printable Latin-1
/// bytes map to themselves. All other bytes map to U+0100, U+0101, ... in order.
inline std::array<char32_t, 256> const& byte_alphabet() {
  static std::array<char32_t, 256> const table = [] {
    std::array<char32_t, 256> made{};
    char32_t spare = 256;
    for (char32_t b = 0; b < 256; ++b) {
      bool const printable = (b >= 33 && b <= 126) || (b >= 161 && b != 173);
      made[b] = printable ? b : spare++;
    }
    return made;
  }();
  return table;
}

/// Returns the bytes that a token represents, if all its characters are in GPT-2's byte alphabet
/// (one visible character per byte). Returns any other token unchanged.
inline std::string bytes_of(std::string_view token) {
  static std::array<int, 324> const byte_of = [] {
    std::array<int, 324> made{};
    made.fill(-1);
    for (int b = 0; b < 256; ++b) made[byte_alphabet()[static_cast<std::size_t>(b)]] = b;
    return made;
  }();
  std::string bytes;
  for (std::size_t i = 0; i < token.size(); i += meta::utf8_size(token[i])) {
    char32_t const c = meta::code_point(token.substr(i));
    if (c >= byte_of.size() || byte_of[c] < 0) return std::string(token);
    bytes += static_cast<char>(byte_of[c]);
  }
  return bytes;
}

/// Returns `bytes` written in GPT-2's byte alphabet, which has one visible character per byte.
inline std::string in_byte_alphabet(std::string_view bytes) {
  std::string text;
  for (char const b : bytes) meta::append_code_point(text, byte_alphabet()[static_cast<unsigned char>(b)]);
  return text;
}

/// A tokenizer model of byte-pair encoding (Sennrich et al., 2016): repeatedly merges the pair of
/// adjacent symbols of a word that has the smallest rank. Among equal ranks, the leftmost pair is
/// merged first. Takes O(n log n) time for a word of n symbols and 20 to 28 bytes of memory per
/// symbol.
class bpe {
 public:
  struct options {
    /// True if symbols are bytes written in GPT-2's alphabet; false if symbols are code points.
    bool byte_level = true;
    /// True if a code point without a token becomes the tokens <0x00> to <0xFF> of its bytes.
    bool byte_fallback = false;
    bool fuse_unknown = false;  ///< True if adjacent unknown symbols become one unknown token
    /// True if a word that is a token becomes this token without any merges.
    bool ignore_merges = false;
    /// Id of the token for symbols without a token. If nullopt, these symbols are dropped.
    std::optional<std::uint32_t> unknown = {};
  };

  /// A set of lists for the encoding of one word. Each thread reuses its lists for all words, to
  /// avoid allocations.
  struct scratch {
    std::vector<std::uint32_t> id, before, next;
    std::vector<std::uint64_t> open;
  };

  /// Builds the model from a vocabulary `words`, which must outlive the model, and a table of
  /// merges.
  bpe(options how, vocabulary const& words, merge_table merges)
      : how_(how), words_(&words), merges_(std::move(merges)) {
    for (std::size_t b = 0; b < 256; ++b) {
      std::string token;
      if (how_.byte_level) {
        meta::append_code_point(token, byte_alphabet()[b]);
      } else {
        token = byte_token(b);
        has_bytes_ = has_bytes_ && words.find(token).has_value();
      }
      byte_ids_[b] = words.find(token).value_or(no_token);
    }
  }

  /// Returns the byte-fallback token of a byte, for example "<0x0A>" for 10.
  static std::string byte_token(std::size_t byte) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    return std::string("<0x") + digits[byte / 16] + digits[byte % 16] + '>';
  }

  /// Appends the token ids of a word to `ids`. The word must not be empty. Throws `error` with exit
  /// code 65 for a word of 2^32 - 1 bytes or more.
  void encode(std::string_view word, std::vector<std::int64_t>& ids, scratch& lists) const {
    if (word.size() >= end) {
      throw error(exit_code::data, "a word of " + std::to_string(word.size()) +
                                       " bytes is longer than a tokenizer takes; cut the text into smaller ones");
    }
    if (how_.ignore_merges) {
      if (auto const whole = words_->find(how_.byte_level ? in_byte_alphabet(word) : std::string(word))) {
        ids.push_back(*whole);
        return;
      }
    }
    lists.id.clear();
    if (how_.byte_level) {
      split_into_bytes(word, lists.id);
    } else {
      split_into_code_points(word, lists.id);
    }
    merge_all(lists);
    for (std::uint32_t const id : lists.id) {
      if (id != no_token) ids.push_back(id);
    }
  }

 private:
  static constexpr std::uint32_t end = ~std::uint32_t{0};
  static constexpr std::uint32_t no_token = end;

  void add_unknown(std::vector<std::uint32_t>& symbols, bool& fuse) const {
    if (how_.unknown && !fuse) symbols.push_back(*how_.unknown);
    fuse = how_.fuse_unknown;
  }

  void split_into_bytes(std::string_view word, std::vector<std::uint32_t>& symbols) const {
    bool fuse = false;
    for (char const c : word) {
      std::uint32_t const id = byte_ids_[static_cast<unsigned char>(c)];
      if (id == no_token) {
        add_unknown(symbols, fuse);
      } else {
        symbols.push_back(id);
        fuse = false;
      }
    }
  }

  void split_into_code_points(std::string_view word, std::vector<std::uint32_t>& symbols) const {
    bool fuse = false;
    for (std::size_t i = 0; i < word.size(); i += meta::utf8_size(word[i])) {
      std::string_view const symbol = word.substr(i, meta::utf8_size(word[i]));
      if (auto const id = words_->find(symbol)) {
        symbols.push_back(*id);
        fuse = false;
      } else if (how_.byte_fallback && has_bytes_) {
        for (char const c : symbol) symbols.push_back(byte_ids_[static_cast<unsigned char>(c)]);
        fuse = false;
      } else {
        add_unknown(symbols, fuse);
      }
    }
  }

  // The symbols are a doubly linked list. `open` is a heap of (rank << 32 | position). The loop
  // skips heap entries whose pair has changed in the meantime.
  void merge_all(scratch& lists) const {
    auto& [id, before, next, open] = lists;
    auto const n = static_cast<std::uint32_t>(id.size());
    if (n < 2) return;
    before.resize(n);
    next.resize(n);
    open.clear();
    for (std::uint32_t i = 0; i < n; ++i) {
      before[i] = i == 0 ? end : i - 1;
      next[i] = i + 1 == n ? end : i + 1;
      if (i + 1 == n) continue;
      if (auto const* const merge = merges_.find(id[i], id[i + 1]))
        open.push_back(std::uint64_t{merge->rank} << 32 | i);
    }
    std::make_heap(open.begin(), open.end(), std::greater<>{});
    while (!open.empty()) {
      std::uint64_t const first = open.front();
      std::pop_heap(open.begin(), open.end(), std::greater<>{});
      open.pop_back();
      auto const left = static_cast<std::uint32_t>(first);
      std::uint32_t const right = next[left];
      if (id[left] == no_token || right == end) continue;
      auto const* const merge = merges_.find(id[left], id[right]);
      if (merge == nullptr || merge->rank != first >> 32) continue;
      id[left] = merge->id;
      id[right] = no_token;
      next[left] = next[right];
      if (next[left] != end) {
        before[next[left]] = left;
        offer(lists, left);
      }
      if (before[left] != end) offer(lists, before[left]);
    }
  }

  void offer(scratch& lists, std::uint32_t left) const {
    auto const* const merge = merges_.find(lists.id[left], lists.id[lists.next[left]]);
    if (merge == nullptr) return;
    lists.open.push_back(std::uint64_t{merge->rank} << 32 | left);
    std::push_heap(lists.open.begin(), lists.open.end(), std::greater<>{});
  }

  options how_;
  vocabulary const* words_;
  merge_table merges_;
  std::array<std::uint32_t, 256> byte_ids_{};
  bool has_bytes_ = true;
};

}  // namespace redco::tokenizer::detail
