#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::data::detail {

/// A periodic sequence of sources in which each source has its share of every prefix to within one
/// element. The elements are scheduled by earliest deadline. Element j of a source with the share w
/// comes at index floor(j / w) or later, and before index ceil((j + 1) / w). Such a schedule exists
/// for all shares with the sum 1 (Baruah and others, Proportionate progress, 1996).
class shares {
 public:
  /// A source, and the number of the source's elements before an index.
  struct draw {
    std::size_t source;
    std::int64_t position;
  };

  /// Throws `error` with exit code 64 unless there are `sources` weights, each finite and above 0.
  shares(std::vector<double> const& weights, std::size_t sources);

  /// Returns the element at an index >= 0.
  draw at(std::int64_t index) const;

  /// Returns the smallest length of a prefix that has `count` elements of a source.
  std::int64_t smallest_prefix(std::size_t source, std::int64_t count) const;

  /// Returns the numbers of elements of the sources in a period.
  std::vector<std::int64_t> const& counts() const { return counts_; }

 private:
  std::vector<std::int64_t> counts_;
  std::vector<std::uint16_t> source_;    // source of each index of a period
  std::vector<std::uint32_t> position_;  // earlier elements of the source in the period
};

}  // namespace redco::data::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/detail/shares.inl.hpp>
#endif
