#include "comm/laws.hpp"
#include "comm/nccl_world.hpp"
#include "torch_catch.hpp"

#include <redco/comm/group.hpp>
#include <redco/comm/ticket.hpp>

#include <atomic>
#include <chrono>
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
using redco::comm::ticket;

/// A world whose ranks send messages as ranks of several processes do.
nccl_world apart(redco::mesh const& shape) { return {.shape = shape, .one_process = false}; }

TEST_CASE("messages between devices of several processes go through NCCL, with two communicators per pair of ranks") {
  for (int const delay_us : {0, 300}) {
    plan_fake({.delay_us = delay_us});
    apart({.dp = 3}).run([](rank_context& me) {
      comm_test::messages_are_sent_later(me);
      comm_test::later_messages_count_as_sent(me);
    });
    // Each of six directions joins two ranks, and sends three messages that are not empty
    CHECK(count_fake().made == 6 * 2);
    CHECK(count_fake().calls == 6 * 3 * 2 + 2 * 3 * 2);
    apart({.dp = 3}).run(comm_test::messages_keep_their_order);
    apart({.pp = 3, .tp = 2}).run(comm_test::stages_send_both_ways);
    CHECK(count_fake().alive == 0);
  }
}

TEST_CASE("messages between threads of one process do not need NCCL") {
  plan_fake({});
  nccl_world{.shape = {.pp = 3, .tp = 2}}.run(comm_test::stages_send_both_ways);
  CHECK(count_fake().made == 0);
}

TEST_CASE("collectives and messages in the other direction pass a device message whose receiver is late") {
  plan_fake({.delay_us = 30});
  apart({.dp = 2}).run([](rank_context& me) {
    at::Tensor const mine = values({300'000}, at::kFloat, me.rank), got = at::empty({300'000});
    std::vector<ticket> sent;
    sent.push_back(me.world.send_later(mine, 1 - me.rank, 3));
    sent.push_back(me.world.send_later(mine + 1, 1 - me.rank, 4));
    at::Tensor const sum = at::full({5}, me.rank + 1);
    me.world.all_reduce(sum);
    must(sum.eq(3).all().item<bool>(), "the sum");
    for (int const tag : {4, 3}) {
      me.world.recv(got, 1 - me.rank, tag);
      must(at::equal(got, values({300'000}, at::kFloat, 1 - me.rank) + (tag - 3)), "the message of the tag");
    }
    for (ticket& one : sent) me.world.wait(one);
  });
  CHECK(count_fake().alive == 0);
}

TEST_CASE("a device message is sent while its sender computes") {
  plan_fake({.delay_us = 2'000});
  std::atomic<bool> received{false};
  apart({.dp = 2}).run([&](rank_context& me) {
    at::Tensor const x = values({1'000}, at::kFloat, 0), got = at::empty({1'000});
    if (me.rank == 1) {
      me.world.recv(got, 0, 3);
      must(at::equal(got, x), "the message");
      received = true;
      return;
    }
    ticket sent = me.world.send_later(x, 1, 3);
    // No call of the sender moves the message
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!received && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    must(received, "the receiver has the message before the sender waits");
    me.world.wait(sent);
  });
}

TEST_CASE("a device message that nobody receives ends its sender at the deadline") {
  plan_fake({});
  auto const late = apart({.dp = 2}).failure_of([](rank_context& me) {
    redco::comm::collective_label const label("pipeline stages");
    if (me.rank == 1) return me.world.barrier();
    ticket sent = me.world.send_later(at::ones({3, 5}), 1, 7);
    me.world.set_deadline(std::chrono::milliseconds(200));
    me.world.wait(sent);
  });
  CHECK(late.code() == redco::exit_code::peer_lost);
  CHECK(mentions(late,
                 "waited 200 ms in send of Float [3, 5] with tag 7 for 'pipeline stages' in group world for rank 1"));
  CHECK(count_fake().alive == 0);
  auto const left = apart({.dp = 2}).failure_of([](rank_context& me) {
    if (me.rank == 1) return;
    ticket sent = me.world.send_later(at::ones({3}), 1);
    me.world.wait(sent);
  });
  CHECK(mentions(left, "for rank 1, which has ended"));
  auto const never = apart({.dp = 2}).failure_of([](rank_context& me) {
    me.world.set_deadline(std::chrono::milliseconds(200));
    if (me.rank == 0) me.world.recv(at::ones({3}), 1, 2);
    else me.world.barrier();
  });
  CHECK(never.code() == redco::exit_code::peer_lost);
  CHECK(count_fake().alive == 0);
}

TEST_CASE("a failure elsewhere ends device messages in flight") {
  plan_fake({.hangs = true});
  auto const began = std::chrono::steady_clock::now();
  auto const failure = apart({.dp = 3}).failure_of([](rank_context& me) {
    if (me.rank == 0) {
      ticket sent = me.world.send_later(at::ones({3'000}), 1, 2);
      me.world.wait(sent);
    }
    if (me.rank == 1) me.world.recv(at::ones({3'000}), 0, 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    throw redco::error(redco::exit_code::data, "no more text");
  });
  CHECK(failure.code() == redco::exit_code::data);
  CHECK(mentions(failure, "rank 2: no more text"));
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(15));
  CHECK((count_fake().made == 2 && count_fake().alive == 0));
}

TEST_CASE("the rank whose device message fails reports NCCL's message") {
  for (std::string const function : {"ncclSend", "ncclRecv"}) {
    int const failing = function == "ncclSend" ? 0 : 1;
    plan_fake({.failing = function.c_str(), .failing_rank = failing});
    auto const failure = apart({.dp = 2}).failure_of([](rank_context& me) {
      if (me.rank == 1) return me.world.recv(at::ones(3), 0, 2);
      ticket sent = me.world.send_later(at::ones(3), 1, 2);
      me.world.wait(sent);
    });
    CHECK(failure.code() == redco::exit_code::internal);
    CHECK(mentions(failure, "NCCL fails: unhandled error (said the fake); in " +
                                std::string(failing == 0 ? "send" : "recv") +
                                " of Float [3] with tag 2 in group world"));
    CHECK(count_fake().alive == 0);
  }
}

TEST_CASE("device messages of another shape, and ranks of several processes on one device, are refused") {
  plan_fake({});
  auto const differs = apart({.dp = 2}).failure_of([](rank_context& me) {
    if (me.rank == 0) me.world.send(at::ones({4}), 1, 2);
    else me.world.recv(at::ones({5}), 0, 2);
    me.world.barrier();
  });
  CHECK(differs.code() == redco::exit_code::internal);
  CHECK(mentions(differs, "recv with tag 2 in group world: rank 0 sent Float [4]"));
  auto const shared =
      nccl_world{.shape = {.dp = 2}, .shared = true, .one_process = false}.failure_of([](rank_context& me) {
        if (me.rank == 0) me.world.send(at::ones({4}), 1);
        else me.world.recv(at::ones({4}), 0);
        me.world.barrier();
      });
  CHECK(shared.code() == redco::exit_code::usage);
  CHECK(mentions(shared, "ranks 0 and 1 of group world are on one device"));
  CHECK(count_fake().alive == 0);
}

TEST_CASE("a run does not receive a device message of the run before") {
  plan_fake({});
  apart({.dp = 2}).run([](rank_context& me) {
    at::Tensor const got = at::empty({4});
    ticket lost;
    if (me.rank == 0) me.world.send(at::full({4}, 1.0), 1, 2);
    if (me.rank == 0) lost = me.world.send_later(at::full({4}, 2.0), 1, 3);
    if (me.rank == 1) me.world.recv(got, 0, 2);
    me.world.barrier();
    me.world.begin_run();
    me.world.barrier();
    if (me.rank == 0) me.world.send(at::full({4}, 3.0), 1, 3);
    if (me.rank == 1) me.world.recv(got, 0, 3);
    must(me.rank == 0 || got.eq(3).all().item<bool>(), "the message of this run");
    me.world.wait(lost);
    me.world.barrier();
  });
  CHECK(count_fake().alive == 0);
}

}  // namespace
