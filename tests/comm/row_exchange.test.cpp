#include "comm/on_ranks.hpp"

#include <redco/comm/joint_calls.hpp>
#include <redco/comm/row_exchange.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Rows that ranks exchange, and the announcements of their calls.

namespace {

using comm_test::must;
using redco::comm::announced, redco::comm::joint_call;

/// Counts of three ranks: rank 0 sends to all, rank 1 sends nothing, rank 2 sends to rank 0 alone.
redco::comm::row_counts const counts({1, 2, 1, 0, 0, 0, 3, 0, 0}, 3);

std::int64_t rows_of(std::size_t rank) { return counts.sum(rank, 0, 3); }

/// Returns rows whose elements name their rank and index.
at::Tensor rows_from(int rank) {
  return (at::arange(rows_of(static_cast<std::size_t>(rank)), at::kDouble) + 10.0 * rank).unsqueeze(1).repeat({1, 2});
}

}  // namespace

TEST_CASE("exchanged rows arrive in the order of their ranks, with 0 rows too, and return") {
  comm_test::on_ranks(3, [&](redco::rank_context& me) {
    at::Tensor const x = rows_from(me.rank);
    at::Tensor const y = redco::comm::exchange_rows(x, me.world, counts);
    std::vector<std::vector<double>> const expected{{0, 20, 21, 22}, {1, 2}, {3}};
    auto const& wanted = expected[static_cast<std::size_t>(me.rank)];
    must(y.size(0) == static_cast<std::int64_t>(wanted.size()) && y.size(1) == 2, "the number of rows");
    must(y.select(1, 1).equal(at::tensor(wanted, at::kDouble)), "the rows of each rank");
    must(redco::comm::exchange_rows(y, me.world, counts.back()).equal(x), "the rows return");
  });
}

TEST_CASE("gradients of exchanged rows return to their ranks, to the second order") {
  // Counts that do not fit the gradients are an error of the exchange itself.
  CHECK_NOTHROW(comm_test::on_ranks(3, [&](redco::rank_context& me) {
    at::Tensor const x = rows_from(me.rank).requires_grad_();
    at::Tensor const y = redco::comm::exchange_rows(x, me.world, counts);
    must(y.requires_grad(), "rows of other ranks have gradients");
    // d(y^3)/dy is 3 y^2 on the rank that received the row, and its derivative 6 y.
    at::Tensor const first = torch::autograd::grad({y.pow(3).sum()}, {x}, {}, true, true)[0];
    must(at::allclose(first, 3 * x.pow(2)), "first derivative");
    at::Tensor const second = torch::autograd::grad({first.sum()}, {x})[0];
    must(at::allclose(second, 6 * x.detach()), "second derivative");
  }));
}

TEST_CASE("an exchange with known counts sends no counts; wrong counts are refused") {
  comm_test::on_ranks(3, [&](redco::rank_context& me) {
    me.world.reset_counters();
    redco::comm::exchange_rows(rows_from(me.rank), me.world, counts);
    auto const all = me.world.counters();
    auto const rank = static_cast<std::size_t>(me.rank);
    std::int64_t const own = counts(rank, rank);
    must(all.total().calls == 1, "one call");
    must(
        all[redco::shape::collective::all_to_all].wire_bytes == (rows_of(static_cast<std::size_t>(me.rank)) - own) * 16,
        "bytes of rows for other ranks");
  });
  auto const failed = comm_test::failure_of(
      3, [&](redco::rank_context& me) { redco::comm::exchange_rows(rows_from((me.rank + 1) % 3), me.world, counts); });
  CHECK(static_cast<int>(failed.code()) == 70);
  CHECK(std::string(failed.what()).find("that add up to those of") != std::string::npos);
}

TEST_CASE("ranks without calls hear of the calls of the others until none has one left") {
  comm_test::on_ranks(3, [&](redco::rank_context& me) {
    // Rank r has r calls with backward.
    std::vector<joint_call> heard;
    for (int i = 0; i < me.rank; ++i) {
      heard.push_back(announced(me.world, joint_call::recorded));
      heard.push_back(announced(me.world, joint_call::backward));
    }
    while (true) {
      joint_call const next = announced(me.world, joint_call::none);
      if (next == joint_call::none) break;
      heard.push_back(next);
    }
    std::vector<joint_call> const expected{joint_call::recorded, joint_call::backward, joint_call::recorded,
                                           joint_call::backward};
    must(heard == expected, "the calls of the rank with most of them");
  });
}

TEST_CASE("of different calls, ranks make the first kind first, and none after all others") {
  using redco::comm::first_of;
  comm_test::on_ranks(3, [](redco::rank_context& me) {
    // Rank r makes r forwards and one backward for each, and has no call left after them.
    std::vector<joint_call> own, heard;
    for (int i = 0; i < me.rank; ++i) own.push_back(joint_call::forward);
    for (int i = 0; i < me.rank; ++i) own.push_back(joint_call::backward);
    std::size_t made = 0;
    do {
      heard.push_back(first_of(me.world, made < own.size() ? own[made] : joint_call::none));
      if (made < own.size() && own[made] == heard.back()) ++made;
    } while (heard.back() != joint_call::none);
    // Rank 1 waits with its backward for the second forward of rank 2.
    std::vector<joint_call> const expected{joint_call::forward, joint_call::forward, joint_call::backward,
                                           joint_call::backward, joint_call::none};
    must(heard == expected, "forwards before backwards");
  });
}

TEST_CASE("ranks that announce different calls fail with exit code 70 instead of waiting") {
  auto const failed = comm_test::failure_of(2, [&](redco::rank_context& me) {
    announced(me.world, me.rank == 0 ? joint_call::backward : joint_call::recorded);
  });
  CHECK(static_cast<int>(failed.code()) == 70);
  std::string const text = failed.what();
  CHECK(text.find("ranks of the group come to backward and to a call with gradients") != std::string::npos);
  CHECK(text.find("equally often and in the same order on all ranks") != std::string::npos);
}
