#include "at_once.hpp"
#include "comm/on_ranks.hpp"

#include <redco/comm/agreement.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/diag/error.hpp>

#include <ATen/Parallel.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <set>
#include <stdexcept>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using comm_test::failure_of;
using comm_test::mentions;
using comm_test::must;
using redco::exit_code;
using redco::rank_context;

TEST_CASE("a rank's text of any length reaches all ranks") {
  comm_test::on_ranks(3, [](redco::rank_context& rank) {
    for (std::string const& text : {std::string(), std::string("a\0b", 3), std::string(100'000, 'x')})
      for (int const root : {0, 2}) {
        std::string const mine = rank.rank == root ? text : "another of rank " + std::to_string(rank.rank);
        comm_test::must(redco::comm::broadcast_text(rank.world, mine, root) == text, "the root's text");
      }
  });
}

TEST_CASE("each rank has its coordinates, its groups and its own settings") {
  int const threads_before = at::get_num_threads();
  std::atomic<int> seen{0};
  redco::comm::run_ranks({.dp = 2, .tp = 3}, {.threads = 1}, [&](rank_context& me) {
    must(me.world.rank() == me.rank && me.world.size() == 6 && me.world.name() == "world", "world");
    must(me.dp.rank() == me.rank / 3 && me.dp.size() == 2 && me.dp.name() == "dp", "dp");
    must(me.tp.rank() == me.rank % 3 && me.tp.size() == 3 && me.tp.name() == "tp", "tp");
    must(at::get_num_threads() == 1, "a rank computes with one thread");
    must(!c10::AutogradState::get_tls_state().get_multithreading_enabled(), "backward stays on this thread");
    must(me.world.deadline() == std::chrono::seconds(300), "the deadline of the first step");
    me.first_step_done();
    must(me.tp.deadline() == std::chrono::seconds(120), "the deadline of later steps");
    seen.fetch_add(1 << (4 * me.rank));
  });
  CHECK(seen.load() == 0x111111);
  CHECK(at::get_num_threads() == threads_before);
}

TEST_CASE("a group belongs to a set of axes") {
  constexpr redco::mesh on{.pp = 2, .dp = 2, .tp = 3};
  redco::comm::run_ranks(on, {.threads = 1}, [&](rank_context& me) {
    using redco::shape::axis;
    must(&me.group(axis::tp) == &me.tp && &me.group(axis::dp) == &me.dp &&
             &me.group(redco::shape::every_axis) == &me.world,
         "the common ones have names");
    must(&me.group(axis::dp | axis::ep) == &me.dp, "an axis of one rank makes no difference");
    must(me.group(axis::ep).size() == 1, "a group of one");
    auto& plane = me.group(axis::pp | axis::tp);
    must(plane.size() == 6 && plane.name() == "pp+tp" && plane.rank() == me.coordinate(axis::pp | axis::tp), "a plane");
    at::Tensor const sum = plane.all_reduced(at::tensor({me.coordinate(axis::dp), me.rank}, at::kLong));
    int ranks = 0;
    for (int other = 0; other < on.ranks(); ++other)
      if (on.coordinate(other, axis::dp) == me.coordinate(axis::dp)) ranks += other;
    must(sum[0].item<std::int64_t>() == 6 * me.coordinate(axis::dp) && sum[1].item<std::int64_t>() == ranks,
         "its ranks are those of one replica");
    must(plane.deadline() == std::chrono::seconds(300), "the deadline of the first step");
    me.first_step_done();
    must(plane.deadline() == std::chrono::seconds(120) && me.group(axis::pp).deadline() == std::chrono::seconds(120),
         "later ones, of a group that is made later too");
  });
}

TEST_CASE("each rank's memory is counted on its own, with the threads that work for it") {
  comm_test::on_ranks(2, [](rank_context& me) {
    std::int64_t const before = me.memory->current();
    std::int64_t const bytes = 4'000'000 * (me.rank + 1);
    {
      at::Tensor const own = at::empty({bytes}, at::kByte);
      at::Tensor fetched;
      std::thread([&] {
        redco::tensors::memory_counter::scope const counting(me.memory);
        fetched = at::empty({1'000'000}, at::kByte);
      }).join();
      std::int64_t const held = me.memory->current() - before;
      must(held >= bytes + 1'000'000 && held < bytes + 1'001'000, "held " + std::to_string(held));
      must(me.memory->peak() >= before + held, "the peak");
    }
    must(me.memory->current() == before, "all is given back");
    me.memory->reset_peak();
    must(me.memory->peak() == before, "the peak starts again");
  });
}

TEST_CASE("a mesh without ranks is a usage error") {
  try {
    redco::comm::run_ranks({.dp = 0, .tp = 2}, {}, [](rank_context&) {});
    FAIL("no error");
  } catch (redco::error const& failure) {
    CHECK(failure.code() == exit_code::usage);
    CHECK(mentions(failure, "0x2"));
  }
}

TEST_CASE("the first failure ends all ranks and keeps its text and exit code") {
  auto const foreign = failure_of(4, [](rank_context& me) {
    if (me.rank == 2) throw std::out_of_range("no such token");
    me.world.barrier();
  });
  CHECK(foreign.code() == exit_code::internal);
  CHECK(std::string(foreign.what()) == "rank 2: no such token");

  auto const own = failure_of(3, [](rank_context& me) {
    at::Tensor const x = at::ones({20'000});
    for (int step = 0;; ++step) {
      if (me.rank == 1 && step == 5) throw redco::error(exit_code::not_finite, "the loss of step 5 is NaN");
      me.world.all_reduce(x);
    }
  });
  CHECK(own.code() == exit_code::not_finite);
  CHECK(std::string(own.what()) == "rank 1: the loss of step 5 is NaN");

  auto const last = failure_of(2, [](rank_context& me) {
    me.world.barrier();
    if (me.rank == 0) throw std::runtime_error("after the last call");
  });
  CHECK(std::string(last.what()) == "rank 0: after the last call");

  CHECK(mentions(failure_of(2,
                            [](rank_context& me) {
                              if (me.rank == 1) throw 7;
                            }),
                 "not a std::exception"));
  auto const torch = failure_of(2, [](rank_context& me) {
    if (me.rank == 1) at::ones({2}).view({3});
  });
  CHECK(mentions(torch, "rank 1: shape '[3]' is invalid"));
  CHECK(!mentions(torch, "frame #"));
}

TEST_CASE("a failure inside backward ends ranks that wait in their own backward") {
  auto const failure = failure_of(3, [](rank_context& me) {
    at::Tensor const x = at::ones({5}).requires_grad_(true);
    at::Tensor y = redco::comm::enter(redco::tensor<redco::shape::replicated>(x), me.world).local() * 2;
    if (me.rank == 1) y.register_hook([](at::Tensor const&) -> at::Tensor { throw std::runtime_error("in a hook"); });
    y.sum().backward();
  });
  CHECK(mentions(failure, "rank 1: in a hook"));
}

TEST_CASE("abort from outside a call ends all ranks with its cause in each of two hundred runs") {
  for (int round = 0; round < 200; ++round) {
    auto const failure = failure_of(3, [&](rank_context& me) {
      at::Tensor const x = at::full({round % 2 ? 64 : 40'000}, me.rank);
      for (int call = 0;; ++call) {
        if (me.rank == round % 3 && call == round % 7) me.dp.abort(exit_code::io, "disk " + std::to_string(round));
        me.world.all_reduce(x);
      }
    });
    if (failure.code() != exit_code::io || !mentions(failure, "disk " + std::to_string(round))) {
      FAIL("round " << round << ": " << failure.what());
    }
  }
}

TEST_CASE("failures at random moments neither hang nor access freed memory") {
  for (int round = 0; round < 100; ++round) {
    auto const failure = failure_of(4, [&](rank_context& me) {
      for (int call = 0;; ++call) {
        // Freed as soon as this rank leaves the call
        at::Tensor const x = at::ones({5'000 + call % 3});
        if (me.rank == round % 4 && call == 10 + round % 5) throw std::runtime_error("now");
        me.world.all_reduce(x);
        (void)me.world.all_gather(x.slice(0, 0, 16), 0);
      }
    });
    if (!mentions(failure, "now")) FAIL(failure.what());
  }
}

TEST_CASE("a rank that returns while others wait for it is a lost peer at once") {
  wait_clock const clock;
  auto const failure = failure_of(
      3,
      [](rank_context& me) {
        me.world.barrier();
        if (me.rank == 1) return;
        redco::comm::collective_label const label("grads");
        me.world.all_reduce(at::ones({3}));
      },
      300'000);
  CHECK(failure.code() == exit_code::peer_lost);
  CHECK(mentions(failure, "all_reduce(sum) of Float [3] for 'grads', call 2 of group world for rank 1, "));
  CHECK(mentions(failure, "which has ended"));
  auto const message = failure_of(
      2,
      [](rank_context& me) {
        if (me.rank == 0) me.world.recv(at::ones({3}), 1, 5);
      },
      300'000);
  CHECK(message.code() == exit_code::peer_lost);
  CHECK(mentions(message, "recv of Float [3] with tag 5"));
  CHECK(clock.at_once());
}

TEST_CASE("messages and the last collective of a rank that has returned still arrive") {
  comm_test::on_ranks(2, [](rank_context& me) {
    me.world.barrier();
    if (me.rank == 0) return me.world.send(at::ones({3}) * 5, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    at::Tensor const x = at::zeros({3});
    me.world.recv(x, 0);
    must(x[2].item<float>() == 5, "the message of a rank that has ended");
  });
}

TEST_CASE("a rank that misses the deadline is named with the call that waits for it") {
  auto const late = [](auto const& call) {
    return failure_of(3, [&](rank_context& me) {
      me.world.barrier();
      me.world.set_deadline(std::chrono::milliseconds(500));
      redco::comm::collective_label const label("loss");
      if (me.rank == 2) std::this_thread::sleep_for(std::chrono::milliseconds(1'500));
      call(me);
    });
  };
  auto const reduce = late([](rank_context& me) { (void)me.world.all_gather(at::ones({3, 2}), 1); });
  CHECK(reduce.code() == exit_code::peer_lost);
  CHECK(mentions(reduce, "waited 500 ms in all_gather(1) of Float [3, 2] for 'loss', call 2 of group world for rank"));
  auto const message = late([](rank_context& me) {
    if (me.rank == 0) me.world.recv(at::ones({3}), 2);
    if (me.rank == 2) me.world.send(at::ones({3}), 0);
  });
  CHECK(mentions(message, "rank 0: waited 500 ms in recv of Float [3] with tag 0"));
}

#if !defined(__SANITIZE_THREAD__)
TEST_CASE("a rank that never ends does not keep the process alive") {
  pid_t const child = fork();
  if (child == 0) {
    std::fclose(stderr);
    redco::comm::rank_options options;
    options.first_deadline = options.grace = std::chrono::milliseconds(100);
    try {
      redco::comm::run_ranks({.dp = 2, .tp = 1}, options, [](rank_context& me) {
        if (me.rank == 1) std::this_thread::sleep_for(std::chrono::hours(1));
        me.world.barrier();
      });
    } catch (...) {
    }
    std::_Exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 69);
}
#endif

}  // namespace
