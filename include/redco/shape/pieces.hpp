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
  /// Returns the index of the bucket that contains the unit at offset `place` of the buffer.
  constexpr std::int64_t of(std::int64_t place) const { return most <= 0 ? 0 : place / most; }

  friend constexpr bool operator==(buckets const&, buckets const&) = default;
};

/// A division of the rows of a matrix product into at most `most` chunks (runs), so that one chunk
/// is sent while the next is computed. Rows are counted in units: single rows, or examples of
/// `rows_of_one` rows. Each chunk except the last has a multiple of `step` units, at least `least`
/// bytes, and at least `least_rows` rows. Products of fewer rows would use other kernels (see
/// kernel::linear).
struct product_runs {
  static constexpr std::int64_t most = 4, least_rows = 33;
  /// Minimum bytes of a chunk of a matrix product's rows. Sending fewer bytes takes about as long
  /// as handing them to another thread (0.2 ms at 10 Gbit/s).
  static constexpr std::int64_t least_bytes = 256 * 1024;

  std::int64_t all, each;

  constexpr product_runs(std::int64_t all_of_them, std::int64_t step, std::int64_t rows_of_one, std::int64_t row_bytes,
                         std::int64_t least = least_bytes)
      : all(all_of_them), each(all_of_them) {
    std::int64_t const rows = std::max(least_rows, up(least, row_bytes));
    each = std::min(all, up(std::max(up(all, most), up(rows, rows_of_one)), step) * step);
  }

  constexpr std::int64_t count() const { return up(all, each); }

  /// Calls f(first, count) for each chunk in order. The chunk has the units [first, first + count).
  template <class F>
  constexpr void for_each(F const& f) const {
    for (std::int64_t first = 0; first < all; first += each) f(first, std::min(each, all - first));
  }

 private:
  static constexpr std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
};

}  // namespace redco::shape
