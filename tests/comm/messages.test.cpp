#include "comm/laws.hpp"
#include "comm/on_ranks.hpp"

#include <redco/comm/group.hpp>
#include <redco/comm/ticket.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace {

using comm_test::failure_of;
using comm_test::mentions;
using comm_test::must;
using comm_test::on_ranks;
using redco::exit_code;
using redco::rank_context;
using redco::comm::ticket;
using redco::shape::axis;

constexpr std::int64_t mebi = std::int64_t{1} << 18;  // elements of 1 MiB in f32

TEST_CASE("messages of several sizes and tags are sent to all ranks before any rank receives") {
  for (int ranks = 2; ranks <= 5; ++ranks) on_ranks(ranks, comm_test::messages_are_sent_later);
}

TEST_CASE("send_later counts calls and bytes as send does") {
  for (int ranks = 2; ranks <= 3; ++ranks) on_ranks(ranks, comm_test::later_messages_count_as_sent);
}

TEST_CASE("wait returns after the receiver has copied the tensor, which the sender then changes") {
  std::atomic<bool> receives{false};
  on_ranks(2, [&](rank_context& me) {
    at::Tensor const x = at::full({mebi}, me.rank, at::kFloat);
    if (me.rank == 0) {
      ticket sent = me.world.send_later(x + 1, 1), other = me.world.send_later(x, 1, 3);
      me.world.wait(other);
      must(receives, "the receiver has begun to receive");
      x.fill_(7);
      me.world.wait(sent);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      receives = true;
      me.world.recv(x, 0, 3);
      must(x.eq(0).all().item<bool>(), "the tensor before the change");
      me.world.recv(x, 0);
      must(x.eq(1).all().item<bool>(), "the message that the ticket kept alive");
    }
  });
}

TEST_CASE("a contiguous tensor is sent without a copy, and the sender's thread frees it") {
  on_ranks(2, [](rank_context& me) {
    at::Tensor x = at::full({mebi}, me.rank, at::kFloat);
    std::int64_t const before = me.memory->current();
    me.world.barrier();
    ticket sent;
    if (me.rank == 0) sent = me.world.send_later(x, 1);
    else me.world.recv(x, 0);
    must(me.memory->current() == before && me.memory->peak() < before + 4 * mebi, "no copy");
    me.world.barrier();
    x.reset();
    must(me.memory->current() == before - (me.rank == 0 ? 0 : 4 * mebi), "the ticket holds the tensor");
    me.world.wait(sent);
    must(me.memory->current() == before - 4 * mebi, "the ticket has released the tensor");
  });
}

TEST_CASE("the message of a destroyed ticket arrives, and the destructor does not block") {
  on_ranks(2, [](rank_context& me) {
    if (me.rank == 0) {
      for (int i = 0; i < 3; ++i) (void)me.world.send_later(at::full({5}, i, at::kFloat), 1, 8);
      me.world.barrier();
      return;
    }
    me.world.barrier();
    for (int i = 0; i < 3; ++i) {
      at::Tensor const got = at::zeros({5});
      me.world.recv(got, 0, 8);
      must(got.eq(i).all().item<bool>(), "message " + std::to_string(i));
    }
  });
}

TEST_CASE("wait ends with the run in which the message was sent") {
  redco::comm::thread_world world({.dp = 2}, {});
  ticket kept;
  world.run([&](rank_context& me) {
    if (me.rank == 0) kept = me.world.send_later(at::ones({3}), 1);
  });
  world.run([&](rank_context& me) {
    me.world.set_deadline(std::chrono::milliseconds(300));
    if (me.rank == 0) me.world.wait(kept);  // the second run has dropped the message
    me.world.barrier();
  });
  CHECK_FALSE(kept.pending());
}

TEST_CASE("a wait for a receiver that never comes names the message, its purpose and the receiver") {
  auto const waits = [](auto const& receiver) {
    return failure_of(
        3,
        [&](rank_context& me) {
          ticket sent;
          if (me.rank == 2) {
            redco::comm::collective_label const label("activations");
            sent = me.world.send_later(at::ones({3, 2}), 1, 4);
          }
          if (me.rank == 2) me.world.wait(sent);
          if (me.rank == 1) receiver(me);
        },
        500);
  };
  auto const late = waits([](rank_context&) { std::this_thread::sleep_for(std::chrono::milliseconds(1'500)); });
  CHECK(late.code() == exit_code::peer_lost);
  CHECK(mentions(late, "rank 2: waited 500 ms in send of Float [3, 2] with tag 4 for 'activations', call 0 of group"));
  CHECK(mentions(late, "for rank 1, which did not come"));
  auto const ended = waits([](rank_context&) {});
  CHECK(ended.code() == exit_code::peer_lost);
  CHECK(mentions(ended, "send of Float [3, 2] with tag 4 for 'activations'"));
  CHECK(mentions(ended, "for rank 1, which has ended"));
  auto const failed = waits([](rank_context&) { throw redco::error(exit_code::data, "no more text"); });
  CHECK(failed.code() == exit_code::data);
  CHECK(mentions(failed, "rank 1: no more text"));
}

TEST_CASE("illegal receivers of a later message are refused") {
  CHECK(mentions(failure_of(2, [](rank_context& me) { (void)me.world.send_later(at::ones({3}), me.rank); }),
                 "is not a peer"));
  CHECK(mentions(failure_of(2, [](rank_context& me) { (void)me.world.send_later(at::ones({3}), 2); }),
                 "rank 2 is not a peer among 2 ranks"));
}

TEST_CASE("stages send activations forward and gradients backward in the groups of the pipeline axis") {
  for (redco::mesh const shape :
       {redco::mesh{.pp = 3, .dp = 2, .tp = 2}, redco::mesh{.pp = 4}, redco::mesh{.pp = 2, .dp = 3}})
    redco::comm::run_ranks(shape, {}, [&](rank_context& me) { comm_test::stages_send_both_ways(me); });
}

}  // namespace
