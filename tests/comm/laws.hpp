#pragma once

// Properties of a group over any transport. All ranks call each function concurrently. Values
// differ between ranks and elements.

#include "comm/values.hpp"

#include <redco/comm/rank_context.hpp>
#include <redco/comm/ticket.hpp>
#include <redco/tensor/describe.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace comm_test {

inline std::vector<at::ScalarType> const reduced_types{at::kDouble, at::kFloat, at::kBFloat16, at::kHalf,
                                                       at::kLong,   at::kInt,   at::kByte};
inline std::vector<std::vector<std::int64_t>> const shapes{{}, {0}, {1}, {3, 7}, {0, 5}, {2, 1031}, {9'001}};

/// Number of neighbouring ranks of the world that first add up large tensors among themselves; 1:
/// sums are in rank order.
inline int added_up_first = 1;

/// Returns the reduction in rank order, in the type in which tensors are summed, rounded once.
inline at::Tensor reduced(std::vector<at::Tensor> const& all, redco::comm::reduce_op op) {
  at::ScalarType const type = all.front().scalar_type();
  at::ScalarType const wide = type == at::kBFloat16 || type == at::kHalf ? at::kFloat : type;
  at::Tensor result = all.front().to(wide);
  for (std::size_t i = 1; i < all.size(); ++i) {
    at::Tensor const next = all[i].to(wide);
    result = op == redco::comm::reduce_op::sum   ? result + next
             : op == redco::comm::reduce_op::max ? at::maximum(result, next)
                                                 : at::minimum(result, next);
  }
  return result.to(type);
}

/// Returns the reduction of the values of all ranks. `large`: the transport treats the tensor as a
/// large one.
inline at::Tensor expected(std::vector<std::int64_t> const& shape, at::ScalarType type, int ranks, bool large,
                           redco::comm::reduce_op op = redco::comm::reduce_op::sum) {
  int const first = large ? added_up_first : 1;
  std::vector<at::Tensor> sums;
  for (int rank = 0; rank < ranks; rank += first) {
    std::vector<at::Tensor> some;
    for (int one = rank; one < rank + first; ++one) some.push_back(values(shape, type, one));
    sums.push_back(reduced(some, op));
  }
  return reduced(sums, op);
}
inline bool is_large(at::Tensor const& x) { return x.nbytes() > 4096; }

/// Checks that all_reduce gives every rank the bits of the sum, maximum and minimum in rank order.
inline void reductions_are_in_rank_order(redco::rank_context& me) {
  int const ranks = me.world.size();
  for (auto const type : reduced_types) {
    for (auto const& shape : shapes) {
      for (auto const op : {redco::comm::reduce_op::sum, redco::comm::reduce_op::max, redco::comm::reduce_op::min}) {
        at::Tensor const x = values(shape, type, me.rank);
        at::Tensor const before = x.clone();
        at::Tensor const fresh = me.world.all_reduced(x, op);
        must(at::equal(x, before), "all_reduced leaves its argument alone");
        me.world.all_reduce(x, op);
        at::Tensor const right = expected(shape, type, ranks, is_large(x), op);
        must(at::equal(x, right) && at::equal(fresh, right),
             std::string(name_of(op)) + " of " + redco::tensors::describe(x));
      }
    }
  }
}

/// Checks that strided tensors are reduced in place.
inline void strided_tensors_are_reduced(redco::rank_context& me) {
  int const ranks = me.world.size();
  at::Tensor const base = values({40, 50}, at::kFloat, me.rank);
  me.world.all_reduce(base.t());
  must(at::equal(base, expected({40, 50}, at::kFloat, ranks, true)), "a transposed view");
  at::Tensor const columns = values({40, 50}, at::kFloat, me.rank);
  me.world.all_reduce(columns.slice(1, 3, 8));
  at::Tensor right = values({40, 50}, at::kFloat, me.rank);
  right.slice(1, 3, 8).copy_(expected({40, 50}, at::kFloat, ranks, false).slice(1, 3, 8));
  must(at::equal(columns, right), "only the columns of the view are reduced");
}

/// Checks that all_gather concatenates along every dimension and reduce_scatter splits the sum.
inline void parts_are_gathered_and_scattered(redco::rank_context& me) {
  int const ranks = me.world.size();
  for (auto const type : reduced_types) {
    for (std::int64_t dim = -3; dim < 3; ++dim) {
      std::vector<std::int64_t> shape{3, 5, 7};
      std::vector<at::Tensor> parts;
      for (int rank = 0; rank < ranks; ++rank) parts.push_back(values(shape, type, rank));
      at::Tensor const whole = me.world.all_gather(values(shape, type, me.rank), dim);
      must(at::equal(whole, at::cat(parts, dim)), "all_gather along " + std::to_string(dim));

      shape[static_cast<std::size_t>(dim < 0 ? dim + 3 : dim)] *= ranks;
      at::Tensor const part = me.world.reduce_scatter(values(shape, type, me.rank), dim);
      at::Tensor const sum = expected(shape, type, ranks, true);
      must(at::equal(part, sum.chunk(ranks, dim)[static_cast<std::size_t>(me.rank)]),
           "reduce_scatter along " + std::to_string(dim));
    }
    std::vector<std::int64_t> const shape{3 * ranks, 5};
    auto const own = static_cast<std::size_t>(me.rank);
    at::Tensor const sum = expected(shape, type, ranks, true), x = values(shape, type, me.rank), y = sum.clone();
    me.world.reduce_scatter_in_place(x);
    for (std::size_t i = 0; i < static_cast<std::size_t>(ranks); ++i) {
      must(at::equal(x.chunk(ranks, 0)[i], (i == own ? sum : values(shape, type, me.rank)).chunk(ranks, 0)[i]),
           "a rank's part is the sum, and the others stay");
      if (i != own) y.chunk(ranks, 0)[i].zero_();
    }
    me.world.all_gather_in_place(y);
    must(at::equal(y, sum), "all parts are gathered in place");
  }
  at::Tensor const flags = me.world.all_gather(at::full({2}, me.rank == 1, at::kBool), 0);
  must(flags.numel() == 2 * ranks && flags.sum().item<std::int64_t>() == (ranks > 1 ? 2 : 0), "bool moves too");
  must(me.world.all_gather(at::empty({0, 4}), 1).size(1) == 4 * ranks, "an empty tensor keeps its extents");
}

/// Checks that all_to_all moves a split from one dimension to another.
inline void cuts_are_turned(redco::rank_context& me) {
  int const ranks = me.world.size();
  at::Tensor const whole = values({3 * ranks, 4, 2 * ranks}, at::kDouble, 0);
  auto const at = static_cast<std::size_t>(me.rank);
  at::Tensor const rows = whole.chunk(ranks, 0)[at], columns = whole.chunk(ranks, 2)[at];
  must(at::equal(me.world.all_to_all(rows, 2, 0), columns), "rows to columns");
  must(at::equal(me.world.all_to_all(columns, -3, -1), rows), "columns to rows");
}

/// Checks that broadcast gives the root's tensor, and that send and recv keep the order within a
/// tag.
inline void messages_keep_their_order(redco::rank_context& me) {
  int const ranks = me.world.size();
  for (int root = 0; root < ranks; ++root) {
    at::Tensor const x = values({13, 11}, at::kHalf, me.rank);
    me.world.broadcast(x.t(), root);
    must(at::equal(x, values({13, 11}, at::kHalf, root)), "broadcast from " + std::to_string(root));
  }
  int const right = (me.rank + 1) % ranks, left = (me.rank + ranks - 1) % ranks;
  at::Tensor const moving = values({5, 3}, at::kFloat, me.rank);
  me.world.send(moving, right, 7);
  moving.zero_();  // send has copied the tensor
  me.world.send(values({4}, at::kLong, me.rank), right, 8);
  me.world.send(values({4}, at::kLong, me.rank + 40), right, 8);
  at::Tensor first = at::empty({4}, at::kLong), second = at::empty({4}, at::kLong), third = at::empty({5, 3});
  me.world.recv(first, left, 8);
  me.world.recv(second, left, 8);
  me.world.recv(third, left, 7);
  must(at::equal(first, values({4}, at::kLong, left)), "the first of tag 8");
  must(at::equal(second, values({4}, at::kLong, left + 40)), "the second of tag 8");
  must(at::equal(third, values({5, 3}, at::kFloat, left)), "tag 7, sent first, received last");
}

/// Checks that send_later() does not wait for its receiver. All ranks send messages of more than
/// 1 MiB to each other before any rank receives. Then they receive in another order.
inline void messages_are_sent_later(redco::rank_context& me) {
  redco::comm::group& world = me.world;
  auto const first = [](int from, int to) { return values({300'001}, at::kFloat, 10 * from + to); };
  auto const second = [](int from, int to) { return values({41, 7}, at::kLong, 10 * from + to + 3); };
  std::vector<at::Tensor> kept;
  std::vector<redco::comm::ticket> tickets;
  for (int step = 1; step < world.size(); ++step) {
    int const to = (world.rank() + step) % world.size();
    kept.push_back(first(world.rank(), to).clone());  // no view of another tensor
    tickets.push_back(world.send_later(kept.back(), to, 5));
    // Strided, and freed by the caller
    tickets.push_back(world.send_later(second(world.rank(), to).t(), to, 6));
    tickets.push_back(world.send_later(first(world.rank(), to) + 1, to, 5));
    tickets.push_back(world.send_later(at::empty({0, 3}), to, 7));
  }
  for (int step = 1; step < world.size(); ++step) {
    int const from = (world.rank() + step) % world.size();
    at::Tensor const large = at::empty({300'001}), larger = at::empty({300'001});
    at::Tensor const small = at::empty({41, 7}, at::kLong);
    world.recv(at::empty({0, 3}), from, 7);
    world.recv(small.t(), from, 6);
    world.recv(large, from, 5);
    world.recv(larger, from, 5);
    must(at::equal(small, second(from, world.rank())), "the message with tag 6");
    must(at::equal(large, first(from, world.rank())), "the first message with tag 5");
    must(at::equal(larger, first(from, world.rank()) + 1), "the second message with tag 5");
  }
  for (redco::comm::ticket& one : tickets) {
    must(one.pending(), "a ticket holds its message");
    world.wait(one);
    must(!one.pending(), "a ticket without a message");
    world.wait(one);
  }
  for (at::Tensor const& one : kept) must(one.storage().use_count() == 1, "nothing else holds the memory");
}

/// Checks that send_later() counts calls and bytes as send() does.
inline void later_messages_count_as_sent(redco::rank_context& me) {
  redco::comm::group& world = me.world;
  int const right = (world.rank() + 1) % world.size(), left = (world.rank() + world.size() - 1) % world.size();
  at::Tensor const mine = values({2'001}, at::kDouble, world.rank()), got = at::empty({2'001}, at::kDouble);
  auto const counted = [&](auto const& sends) {
    world.barrier();
    redco::shape::traffic const before = world.counters();
    world.reset_counters();
    if (world.rank() != 0) sends();
    world.recv(got, left, 2);
    if (world.rank() == 0) sends();
    redco::shape::traffic const made = world.counters();
    world.count(before);
    return made;
  };
  redco::shape::traffic const blocking = counted([&] { world.send(mine, right, 2); });
  redco::comm::ticket ticket;
  redco::shape::traffic const later = counted([&] { ticket = world.send_later(mine, right, 2); });
  world.wait(ticket);
  using redco::shape::collective;
  auto const& sent = later[collective::send];
  must(later == blocking, "counts of send");
  must(sent.calls == 1 && sent.payload_bytes == 16'008, "one message");
  must(sent.host_bytes == 0 || sent.host_bytes == 16'008, "a message to another process is counted once");
  must(later[collective::recv].calls == 1 && later[collective::recv].payload_bytes == 16'008, "counts of recv");
}

/// Checks the groups over the mesh axis pp. Each has the ranks with equal indices on the other
/// axes, in the order of stages. Neighbouring stages send each other large messages in both
/// directions.
inline void stages_send_both_ways(redco::rank_context& me) {
  using redco::shape::axis;
  redco::comm::group& stages = me.group(axis::pp);
  int const stage = me.coordinate(axis::pp), replica_ranks = me.mesh.ranks() / me.mesh.pp;
  must(stages.size() == me.mesh.pp && stages.rank() == stage, "the stages of the mesh");
  auto const rank_of = [&](int other) { return me.rank + (other - stage) * replica_ranks; };
  std::vector<redco::comm::ticket> tickets;
  constexpr int micro_batches = 3;
  for (int micro = 0; micro < micro_batches; ++micro)
    for (int const to : {stage + 1, stage - 1})
      if (to >= 0 && to < stages.size())
        tickets.push_back(stages.send_later(values({300'000}, at::kFloat, me.rank) + micro, to, to > stage ? 1 : 2));
  for (int micro = 0; micro < micro_batches; ++micro) {
    for (int const from : {stage + 1, stage - 1}) {
      if (from < 0 || from >= stages.size()) continue;
      at::Tensor const got = at::empty({300'000});
      stages.recv(got, from, from < stage ? 1 : 2);
      must(at::equal(got, values({300'000}, at::kFloat, rank_of(from)) + micro),
           "message " + std::to_string(micro) + " of stage " + std::to_string(from));
    }
  }
  for (redco::comm::ticket& one : tickets) stages.wait(one);
}

}  // namespace comm_test
