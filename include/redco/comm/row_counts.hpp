#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace redco::comm {

/// How many rows each rank of a group sends to each.
class row_counts {
 public:
  /// As many from each to each.
  explicit row_counts(std::int64_t each) : each_(each) {}

  /// `counts` are those of rank 0 to ranks 0, 1 ..., then those of rank 1 ...
  row_counts(std::vector<std::int64_t> counts, int ranks)
      : counts_(std::move(counts)), ranks_(static_cast<std::size_t>(ranks)) {}

  bool equal() const noexcept { return counts_.empty(); }

  std::int64_t operator()(std::size_t from, std::size_t to) const {
    return equal() ? each_ : counts_[from * ranks_ + to];
  }

  /// From one rank to the ranks from `begin` to before `end`.
  std::int64_t sum(std::size_t from, std::size_t begin, std::size_t end) const {
    std::int64_t rows = 0;
    for (std::size_t to = begin; to < end; ++to) rows += (*this)(from, to);
    return rows;
  }

 private:
  std::int64_t each_ = 0;
  std::vector<std::int64_t> counts_;
  std::size_t ranks_ = 0;
};

}  // namespace redco::comm
