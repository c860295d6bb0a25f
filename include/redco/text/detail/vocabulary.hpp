#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace redco::detail {

/// Tokens and their ids, both ways.
class vocabulary {
 public:
  vocabulary() = default;
  /// Tokens that differ, with ids that differ.
  explicit vocabulary(std::vector<std::pair<std::string, std::uint32_t>> entries) : entries_(std::move(entries)) {
    for (auto const& entry : entries_) rows_ = entry.second >= rows_ ? entry.second + std::size_t{1} : rows_;
    by_text_.reserve(entries_.size());
    for (auto const& [text, id] : entries_) by_text_.emplace(text, id);
  }
  vocabulary(vocabulary&&) = default;
  vocabulary& operator=(vocabulary&&) = default;

  std::optional<std::uint32_t> find(std::string_view text) const {
    auto const found = by_text_.find(text);
    if (found == by_text_.end()) return std::nullopt;
    return found->second;
  }

  std::vector<std::pair<std::string, std::uint32_t>> const& entries() const { return entries_; }
  std::size_t rows() const { return rows_; }  ///< one more than the largest id

 private:
  std::vector<std::pair<std::string, std::uint32_t>> entries_;  // moved, never copied: the views point into it
  std::unordered_map<std::string_view, std::uint32_t> by_text_;
  std::size_t rows_ = 0;
};

}  // namespace redco::detail
