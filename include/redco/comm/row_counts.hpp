#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace redco::comm {

/// A table of the number of rows that each rank of a group sends to each other rank in an
/// all_to_all.
class row_counts {
 public:
  /// Creates a table in which each rank sends `each` rows to every rank.
  explicit row_counts(std::int64_t each) : each_(each) {}

  /// Creates a table from `ranks` * `ranks` counts. The counts that rank 0 sends to ranks 0, 1, ...
  /// come first, then the counts of rank 1, and so on.
  row_counts(std::vector<std::int64_t> counts, int ranks)
      : counts_(std::move(counts)), ranks_(static_cast<std::size_t>(ranks)) {}

  bool equal() const noexcept { return counts_.empty(); }

  std::int64_t operator()(std::size_t from, std::size_t to) const {
    return equal() ? each_ : counts_[from * ranks_ + to];
  }

  /// Returns the number of rows that rank `from` sends to the ranks `begin` to `end` - 1 together.
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
