#include <redco/shape/product_runs.hpp>

// Runs of rows that are sent while the next are computed.

namespace redco {

namespace {

constexpr std::int64_t rows_of(product_runs const& cut) {
  std::int64_t rows = 0;
  cut.for_each([&](std::int64_t first, std::int64_t many) { rows = first == rows ? rows + many : -1; });
  return rows;
}

}  // namespace

static_assert(product_runs(1024, 32).count() == 4 && product_runs(1024, 32).each == 256, "no more than four");
static_assert(product_runs(100, 32).count() == 2 && product_runs(100, 32).each == 64, "of a multiple of rows");
static_assert(product_runs(60, 1).count() == 2 && product_runs(60, 1).each == 33, "more than a product of few has");
static_assert(product_runs(33, 32).count() == 1 && product_runs(33, 32).each == 33);
static_assert(product_runs(5, 1, 30).count() == 3 && product_runs(5, 1, 30).each == 2, "of examples");
static_assert(product_runs(5, 1, 100).count() == 3 && product_runs(1, 1, 4096).count() == 1);
static_assert(rows_of({1023, 48}) == 1023 && rows_of({7, 1, 10}) == 7 && rows_of({34, 1}) == 34, "all, in order");

}  // namespace redco
