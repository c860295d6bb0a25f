#pragma once

// Properties of a group over any transport. All ranks call each function concurrently. Values
// differ between ranks and elements.

#include "comm/values.hpp"

#include <redco/comm/rank_context.hpp>
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

}  // namespace comm_test
