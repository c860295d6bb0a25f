#include <redco/data/batches.hpp>
#include <redco/data/sampler.hpp>

static_assert(redco::data::shard_of({0, 16}, 3, 0) == redco::data::interval{0, 6});
static_assert(redco::data::shard_of({0, 16}, 3, 1) == redco::data::interval{6, 11});
static_assert(redco::data::shard_of({0, 16}, 3, 2) == redco::data::interval{11, 16});
static_assert(redco::data::shard_of({5, 6}, 2, 1).empty());

// A shuffle is a constant expression and a permutation.
static_assert([] {
  redco::data::sampler const order(5, 3);
  std::int64_t sum = 0;
  std::int64_t squares = 0;
  for (std::int64_t i = 0; i < order.size(); ++i) {
    sum += order.at(1, i);
    squares += order.at(1, i) * order.at(1, i);
  }
  return sum == 10 && squares == 30;
}());
