#include <redco/data/prepared_batch.hpp>

#include "catch.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>

TEST_CASE("prefetched results come in order and once, at any depth") {
  for (int const depth : {0, 1, 3, 50}) {
    redco::data::prefetch<std::unique_ptr<std::int64_t>> ahead(
        20, depth, [](std::int64_t i) { return std::make_unique<std::int64_t>(i); });
    for (std::int64_t i = 0; i < 20; ++i) REQUIRE(**ahead.next() == i);
    REQUIRE(!ahead.next());
    REQUIRE(!ahead.next());
  }
}

TEST_CASE("the producer stays at most depth results ahead and starts with its hook") {
  std::atomic<std::int64_t> made{0};
  std::atomic<bool> started{false};
  bool started_first = true;
  std::thread::id const consumer = std::this_thread::get_id();
  bool own_thread = true;
  redco::data::prefetch<int> ahead(
      100, 2,
      [&](std::int64_t) {
        started_first = started_first && started;
        own_thread = own_thread && std::this_thread::get_id() != consumer;
        return static_cast<int>(++made);
      },
      [&] { started = true; });
  for (int i = 1; i <= 5; ++i) {
    REQUIRE(ahead.next() == i);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    REQUIRE(made <= i + 2);
  }
  for (int i = 6; i <= 100; ++i) REQUIRE(ahead.next() == i);
  REQUIRE(started_first);
  REQUIRE(own_thread);
}

TEST_CASE("an exception of the producer takes the place of its result") {
  for (int const depth : {0, 1, 8}) {
    redco::data::prefetch<int> ahead(5, depth, [](std::int64_t i) {
      if (i == 2) throw std::runtime_error("third");
      return static_cast<int>(i);
    });
    REQUIRE(ahead.next() == 0);
    REQUIRE(ahead.next() == 1);
    REQUIRE_THROWS_WITH(ahead.next(), "third");
    REQUIRE_THROWS_WITH(ahead.next(), "third");
  }
}

TEST_CASE("an exception of the start hook reaches the consumer") {
  redco::data::prefetch<int> ahead(
      5, 1, [](std::int64_t) { return 0; }, [] { throw std::runtime_error("hook"); });
  REQUIRE_THROWS_WITH(ahead.next(), "hook");
}

TEST_CASE("leaving early stops the thread, whether it waits or works") {
  std::atomic<int> made{0};
  for (int round = 0; round < 50; ++round) {
    redco::data::prefetch<int> ahead(1000000, 1 + round % 3, [&](std::int64_t) { return ++made; });
    if (round % 2) REQUIRE(ahead.next().has_value());
  }
  REQUIRE(made < 1000);
}
