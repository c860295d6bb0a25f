// Tests processes that a launcher started, with one rank each or `--each` ranks each. Without
// arguments it checks the laws of groups, failures that all processes survive, and several runs.
// Each process prints on standard error, because only the first shows its standard output.
// - `mpirun -n 3 processes`: the laws, with one rank per process
// - `mpirun -n 2 processes --each 3`: groups with different numbers of ranks per process
// - `mpirun -n 3 processes --fail`: exit code 65; rank 1 finds bad data while other ranks wait
// - `mpirun -n 3 processes --stuck`: exit code 69; rank 1 does not arrive and does not end
// - `start.py 3 processes --killed 1`: exit code 69; the process of rank 1 is killed
// - `start.py --late 3 processes --impatient`: exit code 76; the last process does not start
// - `processes --store 29500`: keeps a store there, like an agent of torchrun, until it is killed
// - `start.py 3 processes --endless --deadline 2`: sums until something ends it; each prints "sums"
// - `... --busy 6`: endless, but rank 0 then does something else for 6 seconds
// - `... --lane`: endless, with sums by lanes inside a step, like gradients during backward
// - `... --rest 15`: the laws; the last process then prints "rests" and rests for 15 seconds

#include "comm/laws.hpp"
#include "comm/drawn_calls.hpp"

#include <redco/run/main_of.hpp>
#include <redco/comm/agreement.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/make_world.hpp>
#include <redco/tensor/key_store.hpp>
#include <redco/options/launch.hpp>
#include <redco/shape/hosts.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/diag/run_position.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

using comm_test::mentions;
using comm_test::must;
using redco::rank_context;

struct how {
  bool fail = false, stuck = false, impatient = false, endless = false, lane = false;
  int killed = -1, each = 1, runs = 2, store = 0, busy = 0, rest = 0;
  double deadline = 20;

  static constexpr auto fields() {
    return redco::fields(
        redco::field<"fail">(&how::fail, "rank 1 throws"), redco::field<"stuck">(&how::stuck, "rank 1 sleeps"),
        redco::field<"impatient">(&how::impatient, "waits ten seconds for other processes"),
        redco::field<"endless">(&how::endless, "repeats sums until an error or a signal ends the process"),
        redco::field<"lane">(&how::lane, "sums of --endless use lanes"),
        redco::field<"busy">(&how::busy, "seconds that rank 0 sleeps instead of summing"),
        redco::field<"rest">(&how::rest, "seconds that the last process continues after its last run"),
        redco::field<"deadline">(&how::deadline, "deadline of every call in seconds"),
        redco::field<"runs">(&how::runs, "number of runs of the laws"),
        redco::field<"store">(&how::store, "serves a store at this port and does nothing else"),
        redco::field<"killed">(&how::killed, "rank whose process is killed"),
        redco::field<"each">(&how::each, "number of ranks per process"));
  }
};

/// Runs `f` on all processes and returns the error with which it ends.
template <class F>
redco::error failure_of(redco::comm::world& world, F&& f) {
  try {
    world.run(f);
  } catch (redco::error const& failure) {
    return failure;
  }
  return redco::error(redco::exit_code::done, "nothing failed");
}

void laws(rank_context& me) {
  comm_test::reductions_are_in_rank_order(me);
  comm_test::strided_tensors_are_reduced(me);
  comm_test::parts_are_gathered_and_scattered(me);
  comm_test::cuts_are_turned(me);
  comm_test::messages_keep_their_order(me);
  comm_test::messages_are_sent_later(me);
  comm_test::later_messages_count_as_sent(me);
  int const last = me.world.size() - 1;
  for (std::string const& text : {std::string(), std::string("a\0b", 3), std::string(100'000, 'x')}) {
    std::string const mine = me.rank == last ? text : "another of rank " + std::to_string(me.rank);
    must(redco::comm::broadcast_text(me.world, mine, last) == text, "the root's text");
  }
  auto const texts = redco::comm::gather_texts(me.world, std::string(static_cast<std::size_t>(me.rank), 'y'));
  for (std::size_t rank = 0; rank < texts.size(); ++rank) must(texts[rank].size() == rank, "every rank's text");
  // Longer than one message
  at::Tensor const large = comm_test::values({700'001}, at::kBFloat16, me.rank);
  must(at::equal(me.world.all_reduced(large), comm_test::expected({700'001}, at::kBFloat16, me.world.size(), true)),
       "a large sum");
  at::Tensor const message = comm_test::values({300'000}, at::kFloat, me.rank), got = at::empty({300'000});
  if (me.rank == 0) me.world.send(message, last, 3);
  if (me.rank == last) me.world.recv(got, 0, 3);
  must(me.rank != last || at::equal(got, comm_test::values({300'000}, at::kFloat, 0)), "a large message");
}

/// Sends messages of one size concurrently between all ranks of two processes, and runs equally
/// large sums on a lane and on its rank. A receiver that takes a wrong message gets a wrong value,
/// not an error.
void equal_sizes(rank_context& me, int each) {
  int const ranks = me.world.size(), to = (me.rank + each) % ranks, from = (me.rank - each + ranks) % ranks;
  redco::comm::lane& lane = me.lane(redco::shape::every_axis);
  for (int round = 0; round < 20; ++round) {
    std::int64_t const value = 100 * round + me.rank;
    at::Tensor const message = at::full({50}, value, at::kLong), got = at::zeros({50}, at::kLong);
    if (to != me.rank) {
      me.world.send(message, to, 1);
      me.world.recv(got, from, 1);
      must(got[49].item<std::int64_t>() == 100 * round + from, "the message of the right rank");
    }
    at::Tensor const of_lane = at::full({30'000}, value, at::kLong), own = at::full({30'000}, -value, at::kLong);
    lane.all_reduce(of_lane);
    me.world.all_reduce(own);
    lane.wait();
    std::int64_t const sum = 100 * round * ranks + ranks * (ranks - 1) / 2;
    must(own[29'999].item<std::int64_t>() == -sum, "the rank's own sum of this size");
    must(of_lane[29'999].item<std::int64_t>() == sum, "the lane's sum of this size");
  }
}

/// Uses the groups of one mesh concurrently, with ranks that are late in turns.
void planes(rank_context& me) {
  for (int round = 0; round < 30; ++round) {
    if (round % me.world.size() == me.rank) std::this_thread::sleep_for(std::chrono::microseconds(200));
    at::Tensor const index = at::full({3}, me.rank, at::kLong);
    std::int64_t shards = 0, replicas = 0;
    for (int other = 0; other < me.world.size(); ++other) {
      if (me.mesh.coordinate(other, redco::shape::axis::dp) == me.dp_index()) shards += other;
      if (me.mesh.coordinate(other, redco::shape::axis::tp) == me.tp_index()) replicas += other;
    }
    must(me.tp.all_reduced(index)[0].item<std::int64_t>() == shards, "the shards of a replica");
    must(me.dp.all_reduced(index)[1].item<std::int64_t>() == replicas, "the replicas of a shard");
  }
}

/// Runs sums on a lane while the rank calls the same group.
void lanes(rank_context& me) {
  redco::comm::lane& lane = me.lane(redco::shape::axis::dp);
  int const ranks = me.dp.size();
  for (int round = 0; round < 10; ++round) {
    std::vector<at::Tensor> sums;
    for (std::int64_t const size : {3, 200'001, 1'100}) {
      sums.push_back(comm_test::values({size}, at::kLong, me.dp_index()));
      lane.all_reduce(sums.back());
      at::Tensor const own = at::full({2'000}, me.dp_index() + round, at::kLong);
      me.dp.all_reduce(own);
      must(own[1'999].item<std::int64_t>() == ranks * round + ranks * (ranks - 1) / 2, "the rank's own sum");
    }
    lane.wait();
    for (at::Tensor const& sum : sums)
      must(at::equal(sum, comm_test::expected({sum.numel()}, at::kLong, ranks, false)), "the lane's sums");
  }
}

/// Checks that a process sends, for all its members, the bytes that a plan states for its host.
/// Applies if sums are not in rank order.
void sent_bytes(rank_context& me, int each) {
  redco::shape::host_map const processes{me.mesh, me.world.size() / each};
  for (redco::shape::axes const over : {redco::shape::axes(redco::shape::axis::dp),
                                        redco::shape::axes(redco::shape::axis::tp), redco::shape::every_axis}) {
    redco::comm::group& some = me.group(over);
    redco::shape::host_share const share = processes.share(me.rank, over);
    std::vector<int> const members = comm_test::members_of(me, over);
    int const host = processes.host_of(me.rank);
    bool const speaks = share.hosts > 1 && std::none_of(members.begin(), members.end(), [&](int other) {
                          return other < me.rank && processes.host_of(other) == host;
                        });
    std::int64_t const n = some.size();
    at::Tensor const x =
        // Slices of every size end at cache lines
        comm_test::values({16 * n * 60, 7}, at::kFloat, me.rank);
    auto const bytes = static_cast<std::int64_t>(x.nbytes());
    some.reset_counters();
    some.all_reduce(x);
    some.all_gather(x, 1);
    some.reduce_scatter(x, 0);
    some.all_to_all(x, 0, 1);
    some.broadcast(x, 0);
    auto const is = [&](redco::shape::collective kind, std::int64_t payload, bool sends) {
      std::int64_t const planned = redco::shape::host_bytes(kind, payload, share, sends);
      std::int64_t const sent = some.counters()[kind].host_bytes;
      must(sent == (speaks ? planned : 0),
           std::string(name_of(kind)) + " sent " + std::to_string(sent) + " of " + std::to_string(planned) + " bytes");
    };
    is(redco::shape::collective::all_reduce, bytes, true);
    is(redco::shape::collective::all_gather, n * bytes, true);
    is(redco::shape::collective::reduce_scatter, bytes, true);
    is(redco::shape::collective::all_to_all, bytes, true);
    is(redco::shape::collective::broadcast, bytes, processes.host_of(members.front()) == host);
  }
}

/// Checks that a large message arrives while its sender computes and calls no group, and that the
/// message of a destroyed ticket arrives. The receiver reports the arrival by a file.
void messages_move_by_themselves(rank_context& me, int each) {
  int const last = me.world.size() - 1;
  if (each == me.world.size()) return;
  bool const sends = me.rank == 0, receives = me.rank == last;
  at::Tensor const large = at::arange(sends || receives ? 16'000'000 : 0, at::kFloat), got = at::empty_like(large);
  at::Tensor const id = at::full({1}, sends ? std::int64_t{::getpid()} : 0, at::kLong);
  me.world.broadcast(id, 0);
  auto const arrived = std::filesystem::temp_directory_path() /
                       ("redco_message_of_" + std::to_string(id.item<std::int64_t>()) + "_arrived");
  if (sends) std::filesystem::remove(arrived);
  redco::comm::ticket sent;
  me.world.barrier();
  if (sends) {
    sent = me.world.send_later(large, last, 3);
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!std::filesystem::exists(arrived) && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    must(std::filesystem::remove(arrived), "a message arrives while its sender calls no group");
  }
  if (receives) {
    me.world.recv(got, 0, 3);
    std::ofstream const report(arrived);
    must(at::equal(got, large), "the message of the rank that calls no group");
  }
  me.world.wait(sent);
  if (sends) (void)me.world.send_later(large.slice(0, 7, 1'000'000), last, 4);
  me.world.barrier();
  if (receives) {
    at::Tensor const part = got.slice(0, 0, 1'000'000 - 7);
    me.world.recv(part, 0, 4);
    must(at::equal(part, large.slice(0, 7, 1'000'000)), "the message of a destroyed ticket");
  }
  me.world.barrier();  // the sender stays until the message has arrived
}

void failures(redco::comm::world& world, int ranks, int each) {
  auto const own = failure_of(world, [](rank_context& me) {
    at::Tensor const x = at::ones({20'000});
    for (int step = 0;; ++step) {
      if (me.rank == 1 && step == 5) throw redco::error(redco::exit_code::not_finite, "the loss of step 5 is NaN");
      me.world.all_reduce(x);
    }
  });
  must(own.code() == redco::exit_code::not_finite && mentions(own, "rank 1: the loss of step 5 is NaN"), own.what());
  auto const left = failure_of(world, [](rank_context& me) {
    me.world.barrier();
    if (me.rank != 1) me.world.all_reduce(at::ones({3}));
  });
  must(left.code() == redco::exit_code::peer_lost && mentions(left, "for rank 1 on ") &&
           mentions(left, ", which has ended"),
       left.what());
  must(mentions(left, "in all_reduce(sum) of Float [3], call 2 of group world"), left.what());
  auto const differs = failure_of(world, [&](rank_context& me) {
    me.world.all_reduce(at::ones({me.rank == ranks - 1 ? 4 : 5, 2'000}));
  });
  // Ranks of one process are compared before all ranks
  int const first = each > 1 ? ranks - each : 0;
  must(mentions(differs, "rank " + std::to_string(first) + " has all_reduce(sum) of Float [5, 2000], rank " +
                             std::to_string(ranks - 1) + " has all_reduce(sum) of Float [4, 2000]"),
       differs.what());
  auto const message = failure_of(world, [](rank_context& me) {
    if (me.rank == 0) me.world.send(at::ones({3}), 1, 4);
    if (me.rank == 1) me.world.recv(at::empty({4}), 0, 4);
  });
  must(mentions(message, "rank 0 sent Float [3], rank 1 expects Float [4]"), message.what());
  auto const unreceived = failure_of(world, [&](rank_context& me) {
    me.world.set_deadline(std::chrono::milliseconds(300));
    redco::comm::ticket sent;
    if (me.rank == 0) {
      redco::comm::collective_label const label("activations");
      sent = me.world.send_later(at::ones({1'000'000}), ranks - 1, 4);
    }
    me.world.wait(sent);
    if (me.rank == ranks - 1) std::this_thread::sleep_for(std::chrono::milliseconds(1'500));
  });
  if (redco::options::launched().host.empty()) {  // connected by MPI
    must(unreceived.code() == redco::exit_code::peer_lost, unreceived.what());
    must(mentions(unreceived,
                  "rank 0: waited 300 ms in send of Float [1000000] with tag 4 for 'activations', call 0 of"),
         unreceived.what());
  } else {
    // TCP stores the message in the receiver's process
    must(unreceived.code() == redco::exit_code::done, unreceived.what());
  }
  auto const late = failure_of(world, [](rank_context& me) {
    me.world.barrier();
    me.world.set_deadline(std::chrono::milliseconds(300));
    if (me.rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1'500));
    (void)me.world.all_gather(at::ones({3, 2}), 1);
  });
  must(mentions(late, "waited 300 ms in all_gather(1) of Float [3, 2], call 2 of group world for rank"), late.what());
  auto const unanswered = failure_of(world, [](rank_context& me) {
    me.world.barrier();
    if (me.rank == 1) return;
    me.lane(redco::shape::every_axis).all_reduce(at::ones({20'000}));
    me.lane(redco::shape::every_axis).wait();
  });
  must(unanswered.code() == redco::exit_code::peer_lost && mentions(unanswered, "for rank 1 on ") &&
           mentions(unanswered, ", which has ended"),
       unanswered.what());
  must(mentions(unanswered, "call 1 of group world lane"), unanswered.what());
  auto const busy = failure_of(world, [](rank_context& me) {
    me.lane(redco::shape::every_axis).all_reduce(at::ones({20'000}));
    if (me.rank == 1) throw redco::error(redco::exit_code::data, "no such file");
    me.lane(redco::shape::every_axis).wait();
    me.world.barrier();
  });
  must(busy.code() == redco::exit_code::data && mentions(busy, "rank 1: no such file"), busy.what());
}

[[noreturn]] void sums(rank_context& me, std::chrono::seconds busy, bool by_lane) {
  redco::comm::collective_label const label("grads");
  if (by_lane) redco::diag::run_position::begin_step(6);  // counted from 0
  at::Tensor const x = at::ones({20'000});
  for (int round = 0;; ++round) {
    if (by_lane) {
      me.lane(redco::shape::every_axis).all_reduce(x);
      me.lane(redco::shape::every_axis).wait();
    } else {
      me.world.all_reduce(x);
    }
    if (round == 10) std::cerr << "sums\n";
    if (round == 20 && me.rank == 0) std::this_thread::sleep_for(busy);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return redco::main_of<how>(argc, argv, "Tests processes that MPI or TCP joins.", [](how const& o) {
    if (o.store > 0) {
      redco::tensors::key_store const store("localhost", o.store, true, std::chrono::seconds(10));
      std::this_thread::sleep_for(std::chrono::hours(1));
    }
    int const ranks = redco::options::launched().processes * o.each;
    redco::mesh const shape = ranks % 2 == 0 ? redco::mesh{.dp = ranks / 2, .tp = 2} : redco::mesh{.dp = ranks};
    redco::comm::rank_options waits;
    waits.first_deadline = waits.deadline = std::chrono::milliseconds(static_cast<int>(o.deadline * 1000));
    if (o.impatient) waits.first_deadline = std::chrono::seconds(10);
    if (o.stuck) waits.grace = std::chrono::milliseconds(500);
    if (o.endless)
      redco::comm::make_world(shape, waits)->run([&](rank_context& me) {
        sums(me, std::chrono::seconds(o.busy), o.lane);
      });
    if (o.fail || o.stuck || o.killed >= 0) {
      redco::comm::make_world(shape, waits)->run([&](rank_context& me) {
        if (me.rank == o.killed) std::raise(SIGKILL);
        if (o.stuck) me.world.set_deadline(std::chrono::milliseconds(500));
        if (o.stuck && me.rank == 1) std::this_thread::sleep_for(std::chrono::hours(1));
        if (me.rank == 1 && o.killed < 0) throw redco::error(redco::exit_code::data, "bad data");
        if (me.rank == 2) {
          me.lane(redco::shape::every_axis).all_reduce(at::ones({20'000}));
          me.lane(redco::shape::every_axis).wait();
        }
        me.world.barrier();
      });
    }
    for (bool const in_rank_order : {false, true}) {
      // With one rank per process, sums are in rank order anyway
      if (in_rank_order && o.each == 1) break;
      waits.deterministic = in_rank_order;
      comm_test::added_up_first = in_rank_order ? 1 : o.each;
      auto const world = redco::comm::make_world(shape, waits);
      auto const hold = [&](auto const& law) {
        try {
          world->run(law);
        } catch (redco::error const& failure) {
          if (mentions(failure, "does not hold: ")) throw;
          throw redco::error(failure.code(),
                             std::string("does not hold: laws end without an error: ") + failure.what());
        }
      };
      for (int run = 0; run < o.runs; ++run) {
        hold([&o](rank_context& me) { equal_sizes(me, o.each); });
        hold(laws);
        hold(planes);
        hold([run](rank_context& me) { comm_test::drawn_calls(me, static_cast<std::uint64_t>(run)).make(200); });
        hold(lanes);
        if (!in_rank_order && run == 0) hold([&o](rank_context& me) { messages_move_by_themselves(me, o.each); });
        if (!in_rank_order) hold([&o](rank_context& me) { sent_bytes(me, o.each); });
        if (ranks > 1) failures(*world, ranks, o.each);
      }
      redco::mesh const stages = ranks % 2 == 0 ? redco::mesh{.pp = ranks / 2, .tp = 2} : redco::mesh{.pp = ranks};
      redco::comm::make_world(stages, waits)->run(comm_test::stages_send_both_ways);
      world->run([](rank_context& me) {
        must(me.world.counters() == redco::shape::traffic{}, "a run counts from nothing");
        me.world.barrier();
      });
    }
    std::cout << "shown once\n";
    if (o.rest > 0 && redco::options::launched().process == redco::options::launched().processes - 1) {
      std::cerr << "rests\n";
      std::this_thread::sleep_for(std::chrono::seconds(o.rest));
    }
    std::cerr << "process " + std::to_string(redco::options::launched().process) + ": all holds\n";
  });
}
