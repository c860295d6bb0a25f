#include <redco/data/sampler.hpp>

#include <redco/diag/error.hpp>

#include "catch.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <numeric>
#include <vector>

TEST_CASE("each epoch visits every example once, in an order of its own") {
  for (std::int64_t const size : {1, 2, 3, 5, 64, 65, 1000}) {
    redco::data::sampler const sampler(size, 42);
    std::vector<std::int64_t> identity(static_cast<std::size_t>(size));
    std::iota(identity.begin(), identity.end(), std::int64_t{0});
    for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
      auto order = sampler.order(epoch);
      REQUIRE(order == redco::data::sampler(size, 42).order(epoch));
      REQUIRE((size < 10 || order != identity));
      REQUIRE((size < 10 || order != sampler.order(epoch + 1)));
      REQUIRE((size < 10 || order != redco::data::sampler(size, 43).order(epoch)));
      REQUIRE(order[static_cast<std::size_t>(size / 2)] == sampler.at(epoch, size / 2));
      std::sort(order.begin(), order.end());
      REQUIRE(order == identity);
    }
    REQUIRE(redco::data::sampler(size, 42, false).order(7) == identity);
  }
}

TEST_CASE("all orders of three examples come up about equally often") {
  redco::data::sampler const sampler(3, 9);
  std::map<std::vector<std::int64_t>, int> counts;
  for (std::int64_t epoch = 0; epoch < 6000; ++epoch) ++counts[sampler.order(epoch)];
  REQUIRE(counts.size() == 6);
  for (auto const& [order, count] : counts) REQUIRE(std::abs(count - 1000) < 250);
}

TEST_CASE("an example is equally likely at every position of the epoch") {
  redco::data::sampler const sampler(13, 4);
  std::vector<int> counts(13);
  for (std::int64_t epoch = 0; epoch < 13000; ++epoch) ++counts[static_cast<std::size_t>(sampler.at(epoch, 5))];
  for (int const count : counts) REQUIRE(std::abs(count - 1000) < 150);
}

TEST_CASE("the order of an epoch never changes between versions") {
  REQUIRE(redco::data::sampler(7, 1).order(0) == std::vector<std::int64_t>{3, 0, 1, 4, 6, 5, 2});
}

TEST_CASE("a data set without examples is error 65") {
  try {
    redco::data::sampler const none(0);
    FAIL("accepted");
  } catch (redco::error const& e) {
    REQUIRE(e.code() == redco::exit_code::data);
  }
}
