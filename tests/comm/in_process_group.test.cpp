#include "comm/drawn_calls.hpp"
#include "comm/laws.hpp"
#include "comm/on_ranks.hpp"

#include <redco/comm/group.hpp>
#include <redco/comm/in_process_group.hpp>

#include <atomic>
#include <limits>
#include <random>
#include <thread>
#include <vector>

namespace {

using comm_test::expected;
using comm_test::must;
using comm_test::on_ranks;
using comm_test::values;

TEST_CASE("all_reduce gives every rank the bits of the sum, maximum and minimum in rank order") {
  for (int ranks = 1; ranks <= 5; ++ranks) on_ranks(ranks, comm_test::reductions_are_in_rank_order);
}

TEST_CASE("NaN on one rank is NaN in the sum, the maximum and the minimum of all") {
  for (auto const type : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf}) {
    on_ranks(3, [&](redco::rank_context& me) {
      for (auto const op : {redco::comm::reduce_op::sum, redco::comm::reduce_op::max, redco::comm::reduce_op::min}) {
        for (int bad = 0; bad < 3; ++bad) {
          at::Tensor const x = values({29}, type, me.rank);
          if (me.rank == bad) x[17] = std::numeric_limits<double>::quiet_NaN();
          me.world.all_reduce(x, op);
          must(x.isnan().sum().item<std::int64_t>() == 1 && x[17].isnan().item<bool>(), "one NaN, at its index");
        }
      }
    });
  }
}

TEST_CASE("strided tensors are reduced in place") {
  for (int ranks = 1; ranks <= 5; ++ranks) on_ranks(ranks, comm_test::strided_tensors_are_reduced);
}

TEST_CASE("all_gather concatenates along every dimension, reduce_scatter cuts the sum") {
  for (int ranks = 1; ranks <= 5; ++ranks) on_ranks(ranks, comm_test::parts_are_gathered_and_scattered);
}

TEST_CASE("all_to_all turns a cut along one dimension into a cut along another") {
  for (int ranks = 1; ranks <= 5; ++ranks) on_ranks(ranks, comm_test::cuts_are_turned);
}

TEST_CASE("broadcast gives the root's tensor, send and recv keep order within a tag") {
  for (int ranks = 2; ranks <= 5; ++ranks) on_ranks(ranks, comm_test::messages_keep_their_order);
}

TEST_CASE("random sequences of calls over any axes, shapes and types give the expected results") {
  std::uint64_t seed = 0;
  for (redco::mesh const shape :
       {redco::mesh{.dp = 3, .tp = 2}, redco::mesh{.dp = 2, .tp = 2}, redco::mesh{.tp = 5}, redco::mesh{}})
    redco::comm::run_ranks(shape, {}, [&](redco::rank_context& me) { comm_test::drawn_calls(me, seed).make(200); }),
        ++seed;
}

TEST_CASE("inconsistent row counts are refused, and wire bytes count only rows for other ranks") {
  on_ranks(3, [](redco::rank_context& me) {
    at::Tensor const x = values({6, 5}, at::kFloat, me.rank);
    for (std::vector<std::int64_t> const& wrong :
         {std::vector<std::int64_t>{1, 2, 2}, std::vector<std::int64_t>{3, 3}, std::vector<std::int64_t>{7, -1, 0}}) {
      try {
        me.world.all_to_all_v(x, wrong);
        must(false, "refused");
      } catch (redco::error const& e) {
        must(comm_test::mentions(e, "give 3 numbers of rows from 0 on that add up to those of Float [6, 5]"), e.what());
      }
    }
    me.world.reset_counters();
    me.world.all_to_all_v(x, {1, 2, 3});
    auto const& counted = me.world.counters()[redco::shape::collective::all_to_all];
    must(counted.calls == 1 && counted.payload_bytes == 120, "payload bytes of the rows of this rank");
    must(counted.wire_bytes == (6 - (me.rank + 1)) * 20, "wire bytes of the rows for other ranks");
  });
}

TEST_CASE("no rank leaves a barrier before all have come") {
  std::atomic<int> come{0};
  on_ranks(5, [&](redco::rank_context& me) {
    for (int round = 1; round <= 50; ++round) {
      come.fetch_add(1);
      me.world.barrier();
      must(come.load() >= 5 * round, "all are counted");
      me.world.barrier();
    }
  });
}

TEST_CASE("results have the same bits in any order of arrival, even with calls in flight in several groups") {
  at::Tensor const right = expected({3'001}, at::kFloat, 4, true);
  at::Tensor const small = expected({19}, at::kBFloat16, 4, false);
  redco::comm::run_ranks({.dp = 2, .tp = 2}, {}, [&](redco::rank_context& me) {
    std::mt19937 dice(static_cast<unsigned>(me.rank));
    for (int round = 0; round < 60; ++round) {
      std::this_thread::sleep_for(std::chrono::microseconds(dice() % 300));
      at::Tensor const x = values({3'001}, at::kFloat, me.rank), y = values({19}, at::kBFloat16, me.rank);
      me.world.all_reduce(x);
      me.world.all_reduce(y);
      must(at::equal(x, right) && at::equal(y, small), "round " + std::to_string(round));
      at::Tensor const index = at::full({3}, me.rank, at::kLong);
      must(me.tp.all_reduced(index)[0].item<std::int64_t>() == 4 * me.dp_index() + 1, "the shards of a replica");
      must(me.dp.all_reduced(index)[1].item<std::int64_t>() == 2 * me.tp_index() + 2, "the replicas of a shard");
    }
  });
}

TEST_CASE("a group of one returns its argument and counts nothing") {
  on_ranks(1, [](redco::rank_context& me) {
    at::Tensor const x = values({4, 2}, at::kFloat, 0);
    must(me.world.all_gather(x, 0).is_same(x) && me.world.reduce_scatter(x, 1).is_same(x), "gather, scatter");
    must(me.world.all_to_all(x, 0, 1).is_same(x) && me.world.all_reduced(x).is_same(x), "all_to_all, all_reduced");
    me.world.all_reduce(x);
    me.world.broadcast(x, 0);
    me.world.barrier();
    must(at::equal(x, values({4, 2}, at::kFloat, 0)), "unchanged");
    must(me.world.counters() == redco::shape::traffic{}, "no traffic");
  });
}

TEST_CASE("counters report calls, payload bytes and ring bytes per kind and rank") {
  on_ranks(3, [](redco::rank_context& me) {
    using redco::shape::collective;
    me.world.all_reduce(at::ones({5}));                         // 20 bytes: ceil(80 / 3)
    me.world.all_reduce(at::ones({7}, at::kBFloat16));          // 14 bytes: ceil(56 / 3)
    (void)me.world.all_gather(at::ones({2, 5}, at::kLong), 1);  // 80 of 240
    (void)me.world.reduce_scatter(at::ones({6, 5}), 0);         // 120
    me.world.broadcast(at::ones({9}), 1);
    me.world.barrier();
    redco::shape::traffic const& counted = me.world.counters();
    must(counted[collective::all_reduce] == redco::shape::traffic::entry{2, 34, 27 + 19}, "all_reduce");
    must(counted[collective::all_gather] == redco::shape::traffic::entry{1, 240, 160}, "all_gather");
    must(counted[collective::reduce_scatter] == redco::shape::traffic::entry{1, 120, 80}, "reduce_scatter");
    must(counted[collective::broadcast] == redco::shape::traffic::entry{1, 36, me.rank == 0 ? 0 : 36}, "broadcast");
    must(counted[collective::barrier] == redco::shape::traffic::entry{1, 0, 0}, "barrier");
    must(counted.total().calls == 6, "total");
    me.world.reset_counters();
    must(me.world.counters() == redco::shape::traffic{}, "reset");
  });
}

TEST_CASE("backward detects a write into a tensor that autograd saved") {
  on_ranks(2, [](redco::rank_context& me) {
    at::Tensor const weight = at::full({3}, 2.0).requires_grad_(true);
    at::Tensor const x = at::ones({3}) * (me.rank + 1);
    at::Tensor const y = (weight * x).sum();
    me.world.all_reduce(x);
    bool noticed = false;
    try {
      y.backward();
    } catch (c10::Error const& failure) {
      noticed = std::string(failure.what()).find("modified by an inplace operation") != std::string::npos;
    }
    must(noticed, "backward refuses");
  });
}

TEST_CASE("ranks that disagree in any property of a call get one error that names both") {
  using redco::rank_context;
  auto const disagreement = [](auto const& f) { return comm_test::failure_of(3, f); };
  auto const shape = disagreement([](rank_context& me) { me.world.all_reduce(at::ones({me.rank == 2 ? 4 : 5, 2})); });
  CHECK(shape.code() == redco::exit_code::internal);
  CHECK(comm_test::mentions(shape, "rank 0 has all_reduce(sum) of Float [5, 2]"));
  CHECK(comm_test::mentions(shape, "rank 2 has all_reduce(sum) of Float [4, 2]"));
  auto const type = disagreement(
      [](rank_context& me) { me.world.all_reduce(at::ones({5'000}, me.rank == 1 ? at::kDouble : at::kFloat)); });
  CHECK(comm_test::mentions(type, "rank 1 has all_reduce(sum) of Double [5000]"));
  auto const op = disagreement([](rank_context& me) {
    me.world.all_reduce(at::ones({3}), me.rank == 1 ? redco::comm::reduce_op::max : redco::comm::reduce_op::sum);
  });
  CHECK(comm_test::mentions(op, "rank 1 has all_reduce(max)"));
  auto const kind = disagreement([](rank_context& me) {
    redco::comm::collective_label const label("grads");
    if (me.rank == 1) return me.world.barrier();
    me.world.broadcast(at::ones({3}), 2);
  });
  CHECK(comm_test::mentions(kind, "rank 0 has broadcast(2) of Float [3], rank 1 has barrier"));
  CHECK(comm_test::mentions(kind, "call 1 of group world for 'grads'"));
  auto const message = disagreement([](rank_context& me) {
    if (me.rank == 0) me.world.send(at::ones({3}), 1, 4);
    if (me.rank == 1) me.world.recv(at::empty({4}), 0, 4);
  });
  CHECK(comm_test::mentions(message, "rank 0 sent Float [3], rank 1 expects Float [4]"));
}

TEST_CASE("illegal arguments are refused with a message") {
  using redco::rank_context;
  auto const refusal = [](auto const& f) { return comm_test::failure_of(2, f); };
  CHECK(comm_test::mentions(refusal([](rank_context& me) {
                              (void)me.world.reduce_scatter(at::ones({3, 5}), 1);
                            }),
                            "dimension 1 of Float [3, 5] does not divide into 2 equal parts"));
  CHECK(comm_test::mentions(refusal([](rank_context& me) { (void)me.world.all_gather(at::ones({3}), -2); }),
                            "dimension -2 is not one of Float [3]"));
  CHECK(comm_test::mentions(refusal([](rank_context& me) { me.world.send(at::ones({3}), me.rank); }), "is not a peer"));
  CHECK(comm_test::mentions(refusal([](rank_context& me) { me.world.broadcast(at::ones({3}), 2); }), "rank 2 is not"));
  CHECK(comm_test::mentions(refusal([](rank_context& me) { me.world.all_reduce(at::ones({3}, at::kBool)); }),
                            "cannot reduce Bool [3]"));
}

}  // namespace
