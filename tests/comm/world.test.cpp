#include "comm/values.hpp"
#include "torch_catch.hpp"

#include <redco/comm/thread_world.hpp>

#include <atomic>
#include <set>
#include <thread>

namespace {

using comm_test::mentions;
using comm_test::must;
using redco::rank_context;

redco::comm::rank_options const waits{.first_deadline = std::chrono::seconds(20), .deadline = std::chrono::seconds(10)};

TEST_CASE("a world outlives its runs: threads and groups stay, and counters restart at zero") {
  redco::comm::thread_world world({.dp = 3}, waits);
  std::vector<std::thread::id> threads(3);
  std::vector<redco::comm::group*> groups(3);
  for (int run = 0; run < 3; ++run) {
    world.run([&](rank_context& me) {
      auto const at = static_cast<std::size_t>(me.rank);
      must(run == 0 || threads[at] == std::this_thread::get_id(), "each rank keeps its thread in all runs");
      must(run == 0 || groups[at] == &me.world, "each rank keeps its group in all runs");
      threads[at] = std::this_thread::get_id();
      groups[at] = &me.world;
      must(me.world.counters() == redco::shape::traffic{}, "the counters of a run begin at 0");
      must(me.world.deadline() == waits.first_deadline, "the deadline of a first step");
      must(me.first_of_process == (me.rank == 0) && !me.several_processes, "all ranks are in one process");
      me.first_step_done();
      at::Tensor const x = at::full({5}, me.rank + run);
      me.world.all_reduce(x);
      must(x[2].item<float>() == static_cast<float>(3 + 3 * run), "the sum of all ranks");
    });
  }
  CHECK(std::set<std::thread::id>(threads.begin(), threads.end()).size() == 3);
}

TEST_CASE("a message that no rank received does not reach the next run") {
  redco::comm::thread_world world({.dp = 2}, waits);
  world.run([](rank_context& me) {
    if (me.rank == 0) me.world.send(at::ones({3}), 1, 7);
  });
  world.run([](rank_context& me) {
    at::Tensor const x = at::zeros({3});
    if (me.rank == 0) me.world.send(at::ones({3}) * 5, 1, 7);
    if (me.rank == 1) me.world.recv(x, 0, 7);
    must(me.rank == 0 || x[0].item<float>() == 5, "the message of this run");
  });
}

TEST_CASE("a world runs again after a failure") {
  redco::comm::thread_world world({.dp = 1, .tp = 3}, waits);
  for (int run = 0; run < 2; ++run) {
    try {
      world.run([](rank_context& me) {
        if (me.rank == 1) throw redco::error(redco::exit_code::data, "no such file");
        me.tp.all_reduce(at::ones({30'000}));
      });
      FAIL("no error");
    } catch (redco::error const& failure) {
      CHECK(failure.code() == redco::exit_code::data);
      CHECK(mentions(failure, "rank 1: no such file"));
    }
    std::atomic<int> sum{0};
    REQUIRE_NOTHROW(world.run(
        [&](rank_context& me) { sum += me.tp.all_reduced(at::full({2}, me.rank, at::kLong))[0].item<int>(); }));
    CHECK(sum == 9);
  }
}

}  // namespace
