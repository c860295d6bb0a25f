#pragma once

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

}  // namespace redco::tokenizer::detail
