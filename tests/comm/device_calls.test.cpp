#include "comm/drawn_calls.hpp"
#include "comm/laws.hpp"
#include "comm/nccl_world.hpp"
#include "comm/on_ranks.hpp"

#include <redco/comm/detail/operand.hpp>

#include <limits>
#include <vector>

namespace {

using comm_test::must;
using redco::rank_context;

/// Runs `f` on ranks that treat CPU memory as the memory of a device.
template <class F>
void as_on_devices(redco::mesh const& shape, F const& f) {
  comm_test::on_groups(
      shape,
      [](auto const& which, std::vector<int> const& members, auto const& line) {
        return redco::comm::in_process_group::make(which.name, members, line, true);
      },
      f);
}

TEST_CASE("collectives on device tensors give the bits of collectives in CPU memory") {
  for (int const ranks : {2, 3, 5}) {
    as_on_devices({.dp = ranks}, [](rank_context& me) {
      comm_test::reductions_are_in_rank_order(me);
      comm_test::strided_tensors_are_reduced(me);
      comm_test::parts_are_gathered_and_scattered(me);
      comm_test::cuts_are_turned(me);
      comm_test::messages_keep_their_order(me);
    });
  }
  std::uint64_t seed = 0;
  for (redco::mesh const shape : {redco::mesh{.dp = 3, .tp = 2}, redco::mesh{.dp = 2, .tp = 2}, redco::mesh{.tp = 5}})
    as_on_devices(shape, [&](rank_context& me) { comm_test::drawn_calls(me, seed).make(60); }), ++seed;
}

TEST_CASE("a NaN on a device makes every reduction of its element NaN") {
  as_on_devices({.dp = 3}, [](rank_context& me) {
    for (auto const op : {redco::comm::reduce_op::sum, redco::comm::reduce_op::max, redco::comm::reduce_op::min}) {
      at::Tensor const x = comm_test::values({29}, at::kHalf, me.rank);
      if (me.rank == 1) x[17] = std::numeric_limits<double>::quiet_NaN();
      me.world.all_reduce(x, op);
      must(x.isnan().sum().item<std::int64_t>() == 1 && x[17].isnan().item<bool>(), "one NaN, at its index");
    }
  });
}

TEST_CASE("operands on a device and in CPU memory have different digests") {
  using redco::comm::detail::operand;
  auto const digest_on = [](at::DeviceType type) {
    return operand::of(redco::shape::collective::all_reduce, at::ones({3}, type), 0).digest();
  };
  CHECK(digest_on(at::kCPU) != digest_on(at::kMeta));
  CHECK(digest_on(at::kCPU) == digest_on(at::kCPU));
}

TEST_CASE("a rank with a tensor on a device and one with a tensor in CPU memory disagree") {
  auto const failure = comm_test::failure_of(
      2, [](rank_context& me) { me.world.all_reduce(at::ones({3}, me.rank == 1 ? at::kMeta : at::kCPU)); });
  CHECK(comm_test::mentions(
      failure, "rank 0 has all_reduce(sum) of Float [3], rank 1 has all_reduce(sum) of Float [3] on a device"));
}

}  // namespace
