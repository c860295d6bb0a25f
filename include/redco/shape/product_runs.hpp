#pragma once

#include <algorithm>
#include <cstdint>

namespace redco {

/// A division of a matrix product's rows into runs, so that one run is sent while the next is
/// computed. The units are rows, or examples of `rows_of_one` rows each. There are at most `most`
/// runs. Each run except the last has at least `least` bytes and `least_rows` rows, and a multiple
/// of `step` units. Products of fewer rows use other kernels (see kernel::linear).
struct product_runs {
  static constexpr std::int64_t most = 4, least_rows = 33;
  /// Minimum bytes of a run: a smaller message takes about as long as handing it to another thread
  /// (0.2 ms at 10 Gbit/s).
  static constexpr std::int64_t least_bytes = 256 * 1024;

  std::int64_t all, each;

  constexpr product_runs(std::int64_t all_of_them, std::int64_t step, std::int64_t rows_of_one, std::int64_t row_bytes,
                         std::int64_t least = least_bytes)
      : all(all_of_them), each(all_of_them) {
    std::int64_t const rows = std::max(least_rows, up(least, row_bytes));
    each = std::min(all, up(std::max(up(all, most), up(rows, rows_of_one)), step) * step);
  }

  constexpr std::int64_t count() const { return up(all, each); }

  /// Calls f(first, count) for each run, in order.
  template <class F>
  constexpr void for_each(F const& f) const {
    for (std::int64_t first = 0; first < all; first += each) f(first, std::min(each, all - first));
  }

 private:
  static constexpr std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
};

}  // namespace redco
