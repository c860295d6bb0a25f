#include <redco/data/prepared_batch.hpp>

#include "catch.hpp"

#include <redco/data/views.hpp>
#include <redco/pipeline/functions.hpp>
#include <redco/random/uniform.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

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

TEST_CASE("leaving early stops the threads, whether they wait or work") {
  std::atomic<int> made{0};
  for (int round = 0; round < 50; ++round) {
    redco::data::prefetch<int> ahead(
        1000000, 1 + round % 3, [&](std::int64_t) { return ++made; }, {}, 1 + round % 4);
    if (round % 2) REQUIRE(ahead.next().has_value());
  }
  REQUIRE(made < 1000);
}

namespace {

/// Waits until `reached` returns true. Returns false after ten seconds, so that a mistake fails the
/// test.
template <class F>
bool in_time(F const& reached) {
  for (int round = 0; round < 10000; ++round) {
    if (reached()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace

TEST_CASE("several threads work at once, each starts with its hook, and results come in order") {
  std::atomic<int> started{0}, working{0};
  std::mutex mutex;
  std::set<std::thread::id> threads;
  redco::data::prefetch<std::int64_t> ahead(
      30, 2,
      [&](std::int64_t i) {
        {
          std::lock_guard const lock(mutex);
          threads.insert(std::this_thread::get_id());
        }
        // The first result waits for the third, so the results end in another order.
        if (++working; i == 0 && !in_time([&] { return working >= 3; })) throw std::runtime_error("one thread only");
        return i * i;
      },
      [&] { ++started; }, 3);
  for (std::int64_t i = 0; i < 30; ++i) REQUIRE(ahead.next() == i * i);
  REQUIRE(!ahead.next());
  REQUIRE(in_time([&] { return started == 3; }));
  REQUIRE(threads.size() >= 2);
}

TEST_CASE("several threads stay as far ahead as their number or the depth, whichever is larger") {
  for (auto const& [depth, threads, most] : {std::array{1, 4, 4}, std::array{5, 2, 5}}) {
    std::atomic<std::int64_t> made{0};
    redco::data::prefetch<int> ahead(
        100, depth, [&](std::int64_t) { return static_cast<int>(++made); }, {}, threads);
    for (int i = 1; i <= 5; ++i) {
      REQUIRE(ahead.next().has_value());
      REQUIRE(in_time([&, far = i + most] { return made == far; }));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      REQUIRE(made == i + most);
    }
  }
}

TEST_CASE("of several failures, the one of the earliest result is thrown, after all results before it") {
  std::atomic<bool> failed{false};
  redco::data::prefetch<std::int64_t> ahead(
      50, 6,
      [&](std::int64_t i) {
        if (i == 4) {
          failed = true;
          throw std::runtime_error("fifth");
        }
        if (i < 4 && !in_time([&] { return failed.load(); })) throw std::runtime_error("late");
        if (i == 3) throw std::runtime_error("fourth");
        return i;
      },
      {}, 5);
  for (std::int64_t i = 0; i < 3; ++i) REQUIRE(ahead.next() == i);
  REQUIRE_THROWS_WITH(ahead.next(), "fourth");
  REQUIRE_THROWS_WITH(ahead.next(), "fourth");
}

TEST_CASE("augmented batches are equal on every mesh and for any number of threads, and differ between epochs") {
  std::vector<std::int64_t> numbers(23);
  std::iota(numbers.begin(), numbers.end(), 100);
  redco::examples<std::string> const train =
      numbers | redco::data::augment([](std::int64_t n, redco::random::stream s) {
        return std::to_string(n) + ":" + std::to_string(redco::random::below(s, 0, 1000));
      });
  auto const pipeline =
      redco::collate([](std::span<std::string const> all) { return std::vector<std::string>(all.begin(), all.end()); });
  redco::data::sampler const order(train.size(), 5);
  auto const epoch_on = [&](std::int64_t epoch, int dp, redco::data::collate_threads const& how) {
    std::vector<std::string> seen(numbers.size());
    for (int shard = 0; shard < dp; ++shard) {
      redco::data::batches const mine(order, {8, 3, dp, shard}, {epoch, 0});
      auto source = redco::data::prepared_batches<std::string, std::vector<std::string>>(
          pipeline, train, mine, order, epoch, {}, {}, how, [](auto made) { return made; });
      while (auto const made = source.next())
        for (std::size_t k = 0; k < made->batch.size(); ++k)
          seen[static_cast<std::size_t>(made->source.examples[k])] = made->batch[k];
    }
    return seen;
  };
  auto const expected = epoch_on(3, 1, {.depth = 0});
  REQUIRE(expected[0].starts_with("100:"));
  REQUIRE(epoch_on(3, 1, {.depth = 2}) == expected);
  REQUIRE(epoch_on(3, 2, {.depth = 1, .threads = 3}) == expected);
  REQUIRE(epoch_on(3, 4, {.depth = 5, .threads = 2}) == expected);
  REQUIRE(epoch_on(4, 2, {.depth = 2, .threads = 2}) != expected);
}
