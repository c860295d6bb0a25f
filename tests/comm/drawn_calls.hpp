#pragma once

// Calls that a generator draws equally on all ranks: their kind, axes, shapes and types. Values are
// small integers, whose sums do not depend on the order and are exact in every type.

#include "comm/values.hpp"

#include <redco/comm/rank_context.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace comm_test {

/// Returns the ranks of the world in this rank's group over these axes.
inline std::vector<int> members_of(redco::rank_context const& me, redco::shape::axes over) {
  std::vector<int> members;
  for (int other = 0; other < me.mesh.ranks(); ++other) {
    bool same = true;
    for (redco::shape::axis const a : redco::shape::all_axes)
      if (!over.has(a)) same = same && me.mesh.coordinate(other, a) == me.mesh.coordinate(me.rank, a);
    if (same) members.push_back(other);
  }
  return members;
}

class drawn_calls {
 public:
  drawn_calls(redco::rank_context& me, std::uint64_t seed) : me_(me), generator_(seed) {}

  void make(int calls) {
    for (call_ = 0; call_ < calls; ++call_) make_one();
  }

 private:
  std::int64_t draw(std::int64_t below) {
    return static_cast<std::int64_t>(generator_() % static_cast<std::uint64_t>(below));
  }

  at::Tensor of(int rank, std::vector<std::int64_t> const& shape) const {
    at::Tensor const positions = at::arange(c10::multiply_integers(shape), at::kLong);
    return (positions * 3 + rank * 5 + call_).remainder(7).to(type_).view(shape);
  }

  void make_one() {
    std::vector<at::ScalarType> const types{at::kDouble, at::kFloat, at::kBFloat16, at::kHalf,
                                            at::kLong,   at::kInt,   at::kByte};
    std::vector<redco::shape::axes> const sets{redco::shape::axis::dp, redco::shape::axis::tp,
                                               redco::shape::every_axis};
    type_ = types[static_cast<std::size_t>(draw(7))];
    redco::shape::axes const over = sets[static_cast<std::size_t>(draw(3))];
    redco::comm::group& some = me_.group(over);
    std::vector<int> const members = members_of(me_, over);
    std::int64_t const n = some.size(), kind = draw(8);
    must(members.size() == static_cast<std::size_t>(n), "the members of a group");
    std::int64_t const dims = 1 + draw(3), dim = draw(dims);
    std::vector<std::int64_t> shape;
    for (std::int64_t i = 0; i < dims; ++i) shape.push_back(draw(6) == 0 ? draw(2) : 1 + draw(draw(3) == 0 ? 40 : 5));
    bool const cut = kind == 2 || kind == 3;
    if (cut) shape[static_cast<std::size_t>(dim)] *= n;
    std::vector<at::Tensor> all;
    for (int const rank : members) all.push_back(of(rank, shape));
    auto const me = static_cast<std::size_t>(some.rank());
    at::Tensor const mine = draw(2) == 0 ? all[me] : all[me].transpose(0, -1).contiguous().transpose(0, -1);
    std::string const which = "drawn call " + std::to_string(call_);
    auto const joined = [&](at::Tensor (*by)(at::Tensor const&, at::Tensor const&)) {
      at::Tensor result = all.front();
      for (std::size_t i = 1; i < all.size(); ++i) result = by(result, all[i]);
      return result;
    };
    auto const plus = [](at::Tensor const& a, at::Tensor const& b) { return at::add(a, b); };
    auto const part = [&](at::Tensor const& x) { return x.chunk(n, dim)[me]; };
    switch (kind) {
      case 0: must(at::equal(some.all_reduced(mine), joined(plus)), which + ", a sum"); break;
      case 1: {
        must(at::equal(some.all_reduced(mine, redco::comm::reduce_op::max),
                       joined([](at::Tensor const& a, at::Tensor const& b) { return at::maximum(a, b); })),
             which + ", a maximum");
        break;
      }
      case 2: {
        at::Tensor const right = mine.numel() == 0 ? part(mine) : part(joined(plus));
        must(at::equal(some.reduce_scatter(mine, dim), right), which + ", a part of a sum");
        break;
      }
      case 3: {
        std::vector<at::Tensor> pieces;
        for (at::Tensor const& one : all) pieces.push_back(part(one));
        must(at::equal(some.all_to_all(mine, dim, dims - 1), at::cat(pieces, dims - 1)), which + ", a piece of each");
        break;
      }
      case 4: must(at::equal(some.all_gather(mine, dim), at::cat(all, dim)), which + ", the gathered parts"); break;
      case 5: {
        auto const root = static_cast<std::size_t>(draw(n));
        at::Tensor const x = mine.clone();
        some.broadcast(x, static_cast<int>(root));
        must(at::equal(x, all[root]), which + ", the tensor of the root");
        break;
      }
      case 6: messages(some, mine, all); break;
      default: rows_of_any_number(some, members, shape); break;
    }
  }

  /// Sends two messages to the next rank of the group, which receives them in the other order.
  void messages(redco::comm::group& some, at::Tensor const& mine, std::vector<at::Tensor> const& all) {
    int const n = some.size(), next = (some.rank() + 1) % n, before = (some.rank() + n - 1) % n;
    if (n == 1) return;
    at::Tensor const first = at::empty_like(mine, at::MemoryFormat::Contiguous), second = at::empty_like(first);
    auto const sends = [&] {
      some.send(mine, next, 5);
      some.send(mine + 1, next, 6);
    };
    if (some.rank() != 0) sends();
    some.recv(second, before, 6);
    some.recv(first, before, 5);
    if (some.rank() == 0) sends();  // a sender may have to wait for its receiver
    at::Tensor const right = all[static_cast<std::size_t>(before)];
    must(at::equal(first, right) && at::equal(second, right + 1), "drawn call " + std::to_string(call_) + ", messages");
  }

  /// Sends another number of rows between every two ranks, sometimes none.
  void rows_of_any_number(redco::comm::group& some, std::vector<int> const& members, std::vector<std::int64_t> shape) {
    std::size_t const n = members.size();
    std::vector<std::vector<std::int64_t>> rows(n);
    for (auto& from : rows)
      for (std::size_t to = 0; to < n; ++to) from.push_back(draw(3) == 0 ? 0 : draw(9));
    auto const me = static_cast<std::size_t>(some.rank());
    std::vector<at::Tensor> pieces;
    std::vector<std::int64_t> from;
    at::Tensor mine;
    for (std::size_t rank = 0; rank < n; ++rank) {
      shape[0] = std::accumulate(rows[rank].begin(), rows[rank].end(), std::int64_t{0});
      at::Tensor const all = of(members[rank], shape);
      if (rank == me) mine = all;
      auto const before = rows[rank].begin() + static_cast<std::ptrdiff_t>(me);
      pieces.push_back(all.narrow(0, std::accumulate(rows[rank].begin(), before, std::int64_t{0}), *before));
      from.push_back(*before);
    }
    auto const arrived = some.all_to_all_v(mine, rows[me]);
    must(arrived.from == from && at::equal(arrived.rows, at::cat(pieces)),
         "drawn call " + std::to_string(call_) + ", rows of any number");
  }

  redco::rank_context& me_;
  std::mt19937_64 generator_;
  at::ScalarType type_ = at::kFloat;
  int call_ = 0;
};

}  // namespace comm_test
