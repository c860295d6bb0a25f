#pragma once

#include <algorithm>
#include <cstdint>

namespace redco::shape {

/// A division of a flat buffer of `size` units (elements or bytes) into buckets, which are sent one
/// by one. Each bucket has `most` units; the last may have fewer. There are no buckets if `size` is
/// 0, and there is one if `most` is 0.
struct buckets {
  std::int64_t size = 0;
  std::int64_t most = 0;

  constexpr std::int64_t count() const {
    if (most <= 0) return size > 0 ? 1 : 0;
    return (size + most - 1) / most;
  }
  constexpr std::int64_t begin(std::int64_t bucket) const { return bucket * most; }
  constexpr std::int64_t end(std::int64_t bucket) const {
    return most <= 0 ? size : std::min(size, (bucket + 1) * most);
  }
  /// Returns the index of the bucket that contains the unit at `offset` of the buffer.
  constexpr std::int64_t of(std::int64_t offset) const { return most <= 0 ? 0 : offset / most; }

  friend constexpr bool operator==(buckets const&, buckets const&) = default;
};

/// A division of the rows of a matrix product into at most `max_runs` chunks (runs), so that one
/// chunk is sent while the next is computed. Rows are counted in units: single rows, or examples of
/// `rows_of_one` rows. Each chunk except the last has a multiple of `step` units, at least
/// `min_bytes` bytes, and at least `min_rows` rows. Products of fewer rows would use other kernels
/// (see kernel::linear).
struct product_runs {
  static constexpr std::int64_t max_runs = 4, min_rows = 33;
  /// Minimum bytes of a chunk of a matrix product's rows. Sending fewer bytes takes about as long
  /// as handing them to another thread (0.2 ms at 10 Gbit/s).
  static constexpr std::int64_t min_bytes = 256 * 1024;

  std::int64_t units, units_per_run;

  constexpr product_runs(std::int64_t all_units, std::int64_t step, std::int64_t rows_of_one, std::int64_t row_bytes,
                         std::int64_t min_bytes_per_run = min_bytes)
      : units(all_units), units_per_run(all_units) {
    std::int64_t const rows = std::max(min_rows, up(min_bytes_per_run, row_bytes));
    units_per_run = std::min(units, up(std::max(up(units, max_runs), up(rows, rows_of_one)), step) * step);
  }

  constexpr std::int64_t count() const { return up(units, units_per_run); }

  /// Calls f(first, count) for each chunk in order. The chunk has the units [first, first + count).
  template <class F>
  constexpr void for_each(F const& f) const {
    for (std::int64_t first = 0; first < units; first += units_per_run)
      f(first, std::min(units_per_run, units - first));
  }

 private:
  static constexpr std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
};

}  // namespace redco::shape
