#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace redco::tokenizer::detail {

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
