#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::tokenizer::detail {

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
    slots_[place(pair)] = {pair, rank, id};
  }

  /// Returns the merge of the adjacent tokens `left` and `right`, or null if they do not merge.
  merge const* find(std::uint32_t left, std::uint32_t right) const {
    merge const& found = slots_[place(key(left, right))];
    return found.pair == none ? nullptr : &found;
  }

 private:
  // No valid pair, because ids are smaller than 2^32 - 1
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  static std::uint64_t key(std::uint32_t left, std::uint32_t right) { return std::uint64_t{left} << 32 | right; }

  std::size_t place(std::uint64_t pair) const {
    std::size_t const mask = slots_.size() - 1;
    std::uint64_t const hash = pair * 0x9E3779B97F4A7C15U;
    std::size_t at = static_cast<std::size_t>(hash ^ hash >> 32) & mask;
    while (slots_[at].pair != none && slots_[at].pair != pair) at = (at + 1) & mask;
    return at;
  }

  std::vector<merge> slots_;
};

}  // namespace redco::tokenizer::detail
