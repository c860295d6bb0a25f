#pragma once

#include <algorithm>
#include <cstdint>

namespace redco {

/// The rows of a product, or examples of `rows_of_one` rows each, in runs of which one is sent while the next is computed: at most
/// `most`, each of more rows than a product of few (see kernel::linear) and of a multiple of `step`, but for the last.
struct product_runs {
  static constexpr std::int64_t most = 4, least_rows = 33;

  std::int64_t all, each;

  constexpr product_runs(std::int64_t all_of_them, std::int64_t step, std::int64_t rows_of_one = 1)
      : all(all_of_them), each(all_of_them) {
    std::int64_t const wanted = std::max((all + most - 1) / most, (least_rows + rows_of_one - 1) / rows_of_one);
    each = std::min(all, (wanted + step - 1) / step * step);
  }

  constexpr std::int64_t count() const { return (all + each - 1) / each; }

  /// Calls f(first, how many) for each, in order.
  template <class F>
  constexpr void for_each(F const& f) const {
    for (std::int64_t first = 0; first < all; first += each) f(first, std::min(each, all - first));
  }
};

}  // namespace redco
