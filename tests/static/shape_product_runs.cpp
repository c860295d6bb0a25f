#include <redco/shape/pieces.hpp>

// Runs of rows that are sent while the next run is computed.

namespace redco {

namespace {

constexpr std::int64_t rows_of(shape::product_runs const& cut) {
  std::int64_t rows = 0;
  cut.for_each([&](std::int64_t first, std::int64_t many) { rows = first == rows ? rows + many : -1; });
  return rows;
}

}  // namespace

static_assert(shape::product_runs(1024, 32, 1, 4096).count() == 4 &&
                  shape::product_runs(1024, 32, 1, 4096).units_per_run == 256,
              "no more than four");
static_assert(shape::product_runs(100, 32, 1, 8, 1).count() == 2 &&
                  shape::product_runs(100, 32, 1, 8, 1).units_per_run == 64,
              "of a multiple of rows");
static_assert(shape::product_runs(60, 1, 1, 8, 1).count() == 2 &&
                  shape::product_runs(60, 1, 1, 8, 1).units_per_run == 33,
              "more than a product of few has");
static_assert(shape::product_runs(33, 32, 1, 8, 1).count() == 1 &&
              shape::product_runs(33, 32, 1, 8, 1).units_per_run == 33);
static_assert(shape::product_runs(1024, 1, 1, 1000).units_per_run == 263 &&
                  shape::product_runs(1024, 1, 1, 100).count() == 1,
              "worth sending");
static_assert(shape::product_runs(5, 1, 30, 8, 1).count() == 3 &&
                  shape::product_runs(5, 1, 30, 8, 1).units_per_run == 2,
              "of examples");
static_assert(shape::product_runs(5, 1, 100, 1000).units_per_run == 3 &&
              shape::product_runs(1, 1, 4096, 1000).count() == 1);
static_assert(rows_of({1023, 48, 1, 8, 1}) == 1023 && rows_of({7, 1, 10, 8, 1}) == 7 && rows_of({34, 1, 1, 8, 1}) == 34,
              "all, in order");

}  // namespace redco
