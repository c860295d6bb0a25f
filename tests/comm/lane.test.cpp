#include "at_once.hpp"
#include "comm/laws.hpp"
#include "comm/on_ranks.hpp"

#include <redco/comm/group.hpp>
#include <redco/comm/lane.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/diag/run_position.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// All-reduces that run on another thread while their rank continues.

namespace lane_test {

using comm_test::expected;
using comm_test::failure_of;
using comm_test::mentions;
using comm_test::must;
using comm_test::on_ranks;
using comm_test::values;
using redco::rank_context;

constexpr std::int64_t sizes[] = {1, 700, 2'001, 50'000, 3, 9'001};

TEST_CASE("a lane sums in rank order during collectives of the same ranks, and its calls count for their group") {
  for (int const ranks : {1, 2, 3}) {
    on_ranks(ranks, [&](rank_context& me) {
      redco::comm::lane& lane = me.lane(redco::shape::axis::dp);
      must(&lane == &me.lane(redco::shape::axis::dp), "one lane for a group");
      me.dp.reset_counters();
      for (int round = 0; round < 20; ++round) {
        std::vector<at::Tensor> sums;
        for (std::int64_t const size : sizes) {
          sums.push_back(values({size}, at::kFloat, me.rank));
          lane.all_reduce(sums.back());
          at::Tensor const meanwhile = at::full({3}, me.rank + round, at::kLong);
          me.dp.all_reduce(meanwhile);
          must(meanwhile[1].item<std::int64_t>() == ranks * round + ranks * (ranks - 1) / 2, "the rank's own sum");
        }
        lane.wait();
        for (std::size_t i = 0; i < sums.size(); ++i)
          must(at::equal(sums[i], expected({sizes[i]}, at::kFloat, ranks, false)), "sum " + std::to_string(i));
      }
      std::int64_t payload = 0;
      for (std::int64_t const size : sizes) payload += 4 * size + 24;
      auto const& counted = me.dp.counters()[redco::shape::collective::all_reduce];
      must(counted.calls == (ranks == 1 ? 0 : 240) && counted.payload_bytes == (ranks == 1 ? 0 : 20 * payload),
           std::to_string(counted.calls) + " calls of " + std::to_string(counted.payload_bytes) + " bytes");
      lane.wait();
      must(counted.calls == (ranks == 1 ? 0 : 240), "nothing is counted twice");
    });
  }
}

TEST_CASE("a rank continues while its lane waits for the other ranks") {
  std::atomic<int> asked{0};
  on_ranks(2, [&](rank_context& me) {
    at::Tensor const x = at::ones({5'000});
    if (me.rank == 0) {
      me.lane(redco::shape::axis::dp).all_reduce(x);
      asked = 1;
    } else {
      // A blocking all_reduce would never reach this line
      while (asked == 0) std::this_thread::yield();
      me.lane(redco::shape::axis::dp).all_reduce(x);
    }
    me.lane(redco::shape::axis::dp).wait();
    must(x[4'999].item<float>() == 2, "the sum");
  });
}

TEST_CASE("a rank waits for one call of its lane while later calls are still in flight") {
  auto const wait_for_first = [&](rank_context& me) {
    redco::comm::lane& lane = me.lane(redco::shape::axis::dp);
    at::Tensor const x = at::full({3}, 1 + me.rank), joined = at::empty({4});
    std::uint64_t const first = lane.all_reduce(x);
    auto const join = [&](redco::comm::group& ranks) { joined.copy_(ranks.all_gather(at::full({2}, 7 - me.rank), 0)); };
    if (me.rank == 0) {
      must(lane.request(join) == first + 1, "calls are numbered");
      lane.wait(first);
      must(x[2].item<float>() == 3, "the first call's sum");
      me.world.send(at::ones({1}), 1);
    } else {
      me.world.recv(at::empty({1}), 0);  // a rank that waited for all would never send it
      lane.request(join);
    }
    lane.wait(first + 1);
    must(at::equal(joined, at::tensor({7.0F, 7.0F, 6.0F, 6.0F})), "the result of the second all_gather");
    lane.wait();
    auto const& counted = me.dp.counters();
    must(counted[redco::shape::collective::all_gather].calls == 1 &&
             counted[redco::shape::collective::all_reduce].calls == 1,
         "calls of both kinds");
  };
  REQUIRE_NOTHROW(on_ranks(2, wait_for_first));
}

TEST_CASE("a lane waits until its group's deadline and names the call and the step") {
  std::atomic<bool> over{false};
  auto const failure = failure_of(
      2,
      [&](rank_context& me) {
        if (me.rank == 1) {
          while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
          return;
        }
        redco::comm::collective_label const label("gradients");
        redco::diag::run_position::begin_step(6);  // counted from 0
        me.lane(redco::shape::axis::dp).all_reduce(at::ones({3}));
        me.lane(redco::shape::axis::dp).all_reduce(at::ones({4}));
        try {
          me.lane(redco::shape::axis::dp).wait();
        } catch (redco::error const&) {
          over = true;
          throw;
        }
      },
      300);
  CHECK(failure.code() == redco::exit_code::peer_lost);
  CHECK(mentions(failure,
                 "rank 0: waited 300 ms in step 7, in all_reduce(sum) of Float [3] for 'gradients', call 1 of group dp "
                 "lane for rank 1"));
}

TEST_CASE("a failing call of a lane ends all ranks with its cause, wherever they wait") {
  auto const differs = failure_of(2, [](rank_context& me) {
    me.lane(redco::shape::axis::dp).all_reduce(at::ones({me.rank == 0 ? 4 : 5}));
    me.world.recv(at::empty({1}), 1 - me.rank, 7);  // no rank sends it
  });
  CHECK(differs.code() == redco::exit_code::internal);
  CHECK(mentions(differs, "rank 0 has all_reduce(sum) of Float [4], rank 1 has all_reduce(sum) of Float [5]"));
  auto const alone = failure_of(2, [](rank_context& me) {
    if (me.rank == 1) me.lane(redco::shape::axis::dp).all_reduce(at::ones({4}, at::kComplexFloat));
    me.world.recv(at::empty({1}), 1 - me.rank, 7);
  });
  CHECK(mentions(alone, "rank 1: group dp lane cannot reduce ComplexFloat [4]"));
}

TEST_CASE("a rank that fails ends at once although its lane still waits") {
  wait_clock const clock;
  auto const failure = failure_of(
      2,
      [](rank_context& me) {
        if (me.rank == 0) {
          for (int i = 0; i < 3; ++i) me.lane(redco::shape::axis::dp).all_reduce(at::ones({50'000}));
          throw redco::error(redco::exit_code::data, "no such file");
        }
        me.world.barrier();
      },
      300'000);
  CHECK(failure.code() == redco::exit_code::data);
  CHECK(mentions(failure, "rank 0: no such file"));
  CHECK(clock.at_once());
}

TEST_CASE("after a failure the next run has new lanes") {
  redco::comm::thread_world world({.dp = 2}, {.first_deadline = std::chrono::seconds(20)});
  for (int run = 0; run < 3; ++run) {
    try {
      world.run([&](rank_context& me) {
        at::Tensor const x = at::full({3'000}, me.rank + 1);
        me.lane(redco::shape::axis::dp).all_reduce(x);
        if (run == 1 && me.rank == 1) throw std::runtime_error("once");
        me.lane(redco::shape::axis::dp).wait();
        must(x[2'999].item<std::int64_t>() == 3, "the sum");
      });
      CHECK(run != 1);
    } catch (redco::error const& failure) {
      CHECK(run == 1);
      CHECK(mentions(failure, "rank 1: "));
    }
  }
}

}  // namespace lane_test
