#include "comm/drawn_calls.hpp"
#include "comm/laws.hpp"
#include "comm/nccl_world.hpp"
#include "torch_catch.hpp"

#include <redco/comm/group.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace {

using comm_test::count_fake;
using comm_test::mentions;
using comm_test::must;
using comm_test::nccl_world;
using comm_test::plan_fake;
using comm_test::values;
using redco::rank_context;

TEST_CASE("calls of every kind run over NCCL in groups of any axes, and each group releases its communicator") {
  std::uint64_t seed = 0;
  for (redco::mesh const shape :
       {redco::mesh{.dp = 3, .tp = 2}, redco::mesh{.dp = 2, .tp = 2}, redco::mesh{.tp = 5}, redco::mesh{.dp = 2}}) {
    plan_fake({.delay_us = 30});
    nccl_world{shape}.run([&](rank_context& me) {
      comm_test::drawn_calls(me, seed).make(60);
      for (redco::comm::group* const some : {&me.world, &me.dp, &me.tp}) some->all_reduce(at::ones({3}));
    });
    int const groups = 1 + (shape.dp > 1) + (shape.tp > 1);
    auto const counted = count_fake();
    CHECK(counted.made == groups * shape.ranks());
    CHECK(counted.alive == 0);
    CHECK(counted.calls > 30 * shape.ranks());
    ++seed;
  }
}

TEST_CASE("NCCL moves data exactly, and sums run in rank order if requested") {
  for (int const ranks : {2, 3, 5}) {
    plan_fake({});
    nccl_world{{.dp = ranks}}.run([](rank_context& me) {
      comm_test::cuts_are_turned(me);
      comm_test::messages_keep_their_order(me);
      comm_test::messages_are_sent_later(me);
      comm_test::later_messages_count_as_sent(me);
    });
    nccl_world{{.dp = ranks}, true}.run([](rank_context& me) {
      comm_test::reductions_are_in_rank_order(me);
      comm_test::strided_tensors_are_reduced(me);
      comm_test::parts_are_gathered_and_scattered(me);
    });
    CHECK(count_fake().alive == 0);
  }
}

TEST_CASE("NCCL computes sums, and maxima and minima still propagate NaN") {
  plan_fake({});
  nccl_world{{.dp = 3}}.run([](rank_context& me) {
    at::Tensor const x = at::full({4}, me.rank == 0 ? 1 : 3e-3, at::kBFloat16);
    // The fake adds the small values first, so that rounding does not lose them
    me.world.all_reduce(x);
    must(x[0].item<float>() > 1, "the fake's own order");
    for (auto const op : {redco::comm::reduce_op::max, redco::comm::reduce_op::min}) {
      at::Tensor const y = values({29}, at::kFloat, me.rank);
      if (me.rank == 1) y[17] = std::numeric_limits<double>::quiet_NaN();
      me.world.all_reduce(y, op);
      must(y[17].isnan().item<bool>() && y.isnan().sum().item<std::int64_t>() == 1, "one NaN, at its index");
      std::vector<at::Tensor> all;
      for (int rank = 0; rank < 3; ++rank) all.push_back(values({29}, at::kFloat, rank));
      at::Tensor const stacked = at::stack(all);
      at::Tensor const right = op == redco::comm::reduce_op::max ? stacked.amax(0) : stacked.amin(0);
      must(at::equal(y.slice(0, 0, 17), right.slice(0, 0, 17)), "the extreme of each element");
    }
  });
}

TEST_CASE("ranks that disagree get an error before NCCL is called") {
  plan_fake({});
  auto const differs = nccl_world{{.dp = 3}}.failure_of([](rank_context& me) {
    me.world.all_reduce(at::ones({5}));
    redco::comm::collective_label const label("grads");
    me.world.all_reduce(at::ones({me.rank == 2 ? 4 : 5, 2}));
  });
  CHECK(differs.code() == redco::exit_code::internal);
  CHECK(mentions(differs, "of group world for 'grads': rank 0 has all_reduce(sum) of Float [5, 2]"));
  CHECK(mentions(differs, "rank 2 has all_reduce(sum) of Float [4, 2]"));
  CHECK(count_fake().calls == 3);
  CHECK(
      mentions(nccl_world{{.dp = 2}}.failure_of([](rank_context& me) { me.world.all_reduce(at::ones(3, at::kBool)); }),
               "cannot reduce Bool [3]"));
}

TEST_CASE("a call that hangs on a device ends at the deadline with one message") {
  plan_fake({});
  auto const late = nccl_world{{.dp = 3}}.failure_of([](rank_context& me) {
    me.world.all_reduce(at::ones({3}));
    me.world.barrier();
    if (me.rank == 0) plan_fake({.hangs = true});
    me.world.barrier();
    me.world.set_deadline(std::chrono::milliseconds(300));
    (void)me.world.all_gather(at::ones({3, 2}), 1);
  });
  CHECK(late.code() == redco::exit_code::peer_lost);
  CHECK(mentions(late, "NCCL did not end within 300 ms"));
  CHECK(mentions(late, "in all_gather(1) of Float [3, 2], call 2 of group world"));
  CHECK(count_fake().alive == 0);
}

TEST_CASE("a rank that leaves early or never arrives is a lost peer") {
  plan_fake({});
  auto const left = nccl_world{{.dp = 3}}.failure_of([](rank_context& me) {
    me.world.barrier();
    if (me.rank != 1) me.world.all_reduce(at::ones({3}));
  });
  CHECK(left.code() == redco::exit_code::peer_lost);
  CHECK(mentions(left, "in all_reduce(sum) of Float [3], call 2 of group world for rank 1, which has ended"));
  std::atomic<bool> waited{false};
  auto const late = nccl_world{{.dp = 2}}.failure_of([&](rank_context& me) {
    me.world.all_reduce(at::ones({3}));
    me.world.set_deadline(std::chrono::milliseconds(200));
    if (me.rank == 1) waited.wait(false);
    try {
      me.world.all_reduce(at::ones({4}));
    } catch (...) {
      waited = true;
      waited.notify_all();
      throw;
    }
  });
  CHECK(late.code() == redco::exit_code::peer_lost);
  CHECK(mentions(late, "waited 200 ms in all_reduce(sum) of Float [4]"));
  CHECK(count_fake().alive == 0);
}

TEST_CASE("a failure elsewhere ends calls in flight on devices") {
  for (bool const aborts : {false, true}) {
    plan_fake({.hangs = true});
    auto const began = std::chrono::steady_clock::now();
    auto const failure = nccl_world{{.dp = 2, .tp = 2}}.failure_of([&](rank_context& me) {
      me.tp.set_deadline(std::chrono::seconds(20));
      if (me.rank < 2) me.tp.all_reduce(at::ones({3'000}));
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (me.rank == 3 && aborts) me.world.abort(redco::exit_code::data, "no more text");
      if (me.rank == 3 && !aborts) throw redco::error(redco::exit_code::data, "no more text");
      me.dp.barrier();
    });
    CHECK(failure.code() == redco::exit_code::data);
    CHECK(mentions(failure, "rank 3: no more text"));
    // The failure must not wait for the deadline
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(15));
    auto const counted = count_fake();
    CHECK((counted.made == 2 && counted.alive == 0));
  }
}

TEST_CASE("the rank whose NCCL call fails reports NCCL's message") {
  for (std::string const function : {"ncclAllReduce", "ncclGroupEnd", "ncclCommGetAsyncError"}) {
    plan_fake({.failing = function.c_str(), .failing_rank = 1});
    auto const failure = nccl_world{{.dp = 3}}.failure_of([](rank_context& me) { me.world.all_reduce(at::ones(3)); });
    CHECK(failure.code() == redco::exit_code::internal);
    CHECK(mentions(failure, "rank 1: NCCL fails: unhandled error (said the fake); in all_reduce(sum) of Float [3]"));
    CHECK(count_fake().alive == 0);
  }
  plan_fake({.failing = "ncclCommGetAsyncError", .failing_result = redco::comm::detail::nccl::remote_error});
  auto const remote = nccl_world{{.dp = 2}}.failure_of([](rank_context& me) { me.world.broadcast(at::ones(3), 0); });
  CHECK(remote.code() == redco::exit_code::peer_lost);
  plan_fake({.failing = "ncclGetUniqueId"});
  CHECK(mentions(nccl_world{{.dp = 2}}.failure_of([](rank_context& me) { me.world.all_reduce(at::ones(3)); }),
                 "rank 0: NCCL names no group: unhandled error"));
}

TEST_CASE("ranks whose calls NCCL refuses release their communicators") {
  // No stream has work
  plan_fake({.failing = "ncclAllReduce", .failing_rank = comm_test::every_rank});
  int const before = count_fake().alive;
  (void)nccl_world{{.dp = 2}}.failure_of([](rank_context& me) { me.world.all_reduce(at::ones(3)); });
  CHECK(count_fake().made == 2);
  CHECK(count_fake().alive == before);
}

TEST_CASE("a call of NCCL ends after its work, even if the work enters the stream late") {
  plan_fake({.delay_us = 50'000});
  std::vector<at::Tensor> sums;  // must outlive ranks that fail while the stream writes
  for (int rank = 0; rank < 2; ++rank) sums.push_back(at::full({4}, rank + 1));
  nccl_world{{.dp = 2}}.run([&](rank_context& me) {
    at::Tensor const& x = sums[static_cast<std::size_t>(me.rank)];
    me.world.all_reduce(x);
    must(x.eq(3).all().item<bool>(), "the sum is there when the call returns");
  });
}

TEST_CASE("a group cannot be used after a failure") {
  plan_fake({.failing = "ncclAllReduce"});
  auto const failure = nccl_world{{.dp = 2}}.failure_of([](rank_context& me) {
    for (int attempt = 0; attempt < 2; ++attempt) {
      try {
        me.world.all_reduce(at::ones({3}));
        must(false, "the call throws");
      } catch (redco::error const& e) {
        must(mentions(e, "rank 0: NCCL fails: unhandled error"), e.what());
      }
    }
  });
  CHECK(mentions(failure, "rank 0: NCCL fails: unhandled error"));
}

TEST_CASE("ranks that share a device do not use NCCL in one process and are refused in several processes") {
  plan_fake({});
  nccl_world{.shape = {.dp = 3}, .shared = true}.run([](rank_context& me) {
    comm_test::reductions_are_in_rank_order(me);
    comm_test::parts_are_gathered_and_scattered(me);
    comm_test::cuts_are_turned(me);
    comm_test::messages_keep_their_order(me);
  });
  CHECK(count_fake().made == 0);
  auto const refused = nccl_world{.shape = {.dp = 3}, .shared = true, .one_process = false}.failure_of(
      [](rank_context& me) { me.world.all_reduce(at::ones(3)); });
  CHECK(refused.code() == redco::exit_code::usage);
  CHECK(mentions(refused, "are on one device, and others are in other processes: use one rank per device"));
  plan_fake({.failing = "join", .failing_rank = 1, .failing_result = redco::comm::detail::nccl::invalid_usage});
  auto const unfit = nccl_world{{.dp = 2}}.failure_of([](rank_context& me) { me.world.all_reduce(at::ones(3)); });
  CHECK(unfit.code() == redco::exit_code::usage);
  CHECK(mentions(unfit, "NCCL does not join these devices: invalid usage (said the fake); use one rank per device"));
  CHECK(count_fake().alive == 0);
}

TEST_CASE("a rank has one device") {
  plan_fake({});
  auto const moved = nccl_world{{.dp = 2}}.failure_of([](rank_context& me) {
    me.world.all_reduce(at::ones({3}));
    me.world.all_reduce(at::ones({3}, at::kMeta));
  });
  CHECK(mentions(moved, "this rank's is cpu, and got a tensor on meta; a rank has one device"));
  auto const sent = nccl_world{.shape = {.dp = 2}, .one_process = false}.failure_of([](rank_context& me) {
    me.world.send(at::ones({3}), 1 - me.rank);
    me.world.send(at::ones({3}, at::kMeta), 1 - me.rank);
  });
  CHECK(mentions(sent, "group world sends from cpu, and got a tensor on meta; a rank has one device"));
  CHECK(count_fake().alive == 0);
}

TEST_CASE("a missing library or one without NCCL is refused with the package to install") {
  using redco::comm::detail::nccl_library;
  auto const refusal = [](std::string const& path) {
    try {
      (void)nccl_library::open(path);
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::usage);
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(refusal("libno_such_nccl.so").find("install the wheel nvidia-nccl-cu13") != std::string::npos);
  CHECK(refusal("libm.so.6").find("libm.so.6 is not it (it has no ncclGetVersion)") != std::string::npos);
}

}  // namespace
