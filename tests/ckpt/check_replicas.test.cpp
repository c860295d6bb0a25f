#include "safetensors/support.hpp"
#include "torch_catch.hpp"

#include <redco/ckpt/check_replicas.hpp>
#include <redco/comm/thread_world.hpp>

#include "sharded_state.hpp"

#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace {

using state = std::vector<redco::ckpt::state_part>;

/// Compares the state of all ranks after `change(rank, parts)`; returns the error that every rank
/// throws.
ckpt_test::thrown compared(redco::mesh const& mesh, std::function<void(int, state&)> const& change) {
  std::mutex guard;
  std::set<std::string> texts;
  ckpt_test::thrown last;
  redco::comm::run_ranks(mesh, {}, [&](redco::rank_context& rank) {
    auto parts = ckpt_test::sharded_state(mesh, rank.rank, true);
    change(rank.rank, parts);
    auto const thrown = ckpt_test::error_of([&] { redco::ckpt::check_replicas(parts, rank.world, 7); });
    std::lock_guard const lock(guard);
    texts.insert(thrown.text);
    last = thrown;
  });
  CHECK(texts.size() == 1);
  return last;
}

void flip(at::Tensor const& values, std::size_t byte, unsigned char bit) {
  static_cast<unsigned char*>(values.data_ptr())[byte] ^= bit;
}

/// Returns the part of the tensor with this name.
redco::ckpt::state_part& part_of(state& parts, std::string const& name) {
  for (auto& part : parts)
    if (part.name == name) return part;
  throw redco::error(redco::exit_code::internal, name);
}

}  // namespace

TEST_CASE("equal replicas pass, whatever their padding holds") {
  for (redco::mesh const& mesh : {redco::mesh{.dp = 1}, {.dp = 3}, {.tp = 2}, {.dp = 2, .tp = 3}, {.dp = 2, .tp = 5}}) {
    auto const none = compared(mesh, [&](int rank, state& parts) {
      for (auto& part : parts)
        if (part.box.shape != part.local.sizes().vec() && mesh.coordinate(rank, redco::shape::axis::dp) == 0)
          part.local.select(0, part.local.size(0) - 1).fill_(3);
      // The values are set again, and the padding keeps its content.
      auto const clean = ckpt_test::sharded_state(mesh, rank, true);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        at::Tensor to = parts[i].local, from = clean[i].local;
        for (std::size_t d = 0; d < parts[i].box.shape.size(); ++d) {
          to = to.narrow(static_cast<std::int64_t>(d), 0, parts[i].box.shape[d]);
          from = from.narrow(static_cast<std::int64_t>(d), 0, parts[i].box.shape[d]);
        }
        to.copy_(from);
      }
    });
    INFO(mesh.dp << "x" << mesh.tp << ": " << none.text);
    CHECK(none.code == redco::exit_code::done);
  }
}

TEST_CASE("a bit that differs between replicas is named with the rank that differs from the most ranks") {
  struct fault {
    redco::mesh mesh;
    int rank;
    std::string tensor, message;
  };
  for (fault const& one :
       {fault{{.dp = 3}, 1, "h.0.up.weight", "rank 1 holds other values of h.0.up.weight than rank 0"},
        fault{{.dp = 3}, 0, "master.wte.weight", "rank 0 holds other values of master.wte.weight than rank 1"},
        fault{{.dp = 2}, 0, "flags", "rank 1 holds other values of flags than rank 0"},
        fault{{.dp = 2, .tp = 2}, 3, "wte.weight", "rank 3 holds other values of wte.weight than rank 1"},
        fault{{.tp = 3}, 2, "h.0.ln.weight", "rank 2 holds other values of h.0.ln.weight than rank 0"},
        fault{{.dp = 2}, 1, "optimizer.step", "rank 1 holds other values of optimizer.step than rank 0"}}) {
    auto const found = compared(one.mesh, [&](int rank, state& parts) {
      if (rank == one.rank) flip(part_of(parts, one.tensor).local, 0, 1);
    });
    INFO(found.text);
    CHECK(found.code == redco::exit_code::internal);
    CHECK(ckpt_test::has(found.text, "step 7: " + one.message));
    CHECK(ckpt_test::has(found.text, "(1 of "));
  }
}

TEST_CASE("ranks compare only what they hold twice") {
  // Each rank has a share of its own and one that two ranks hold.
  auto const with_shares = [](int rank, state& parts) {
    at::Tensor const own = at::full({2, 3}, rank, at::kFloat);
    parts.push_back({"optimizer.m.share", {8, 3}, own, {{2 * rank, 0}, {2, 3}}, true});
    at::Tensor const shared = at::full({2, 3}, rank / 2, at::kFloat);
    parts.push_back({"optimizer.v.share", {4, 3}, shared, {{rank / 2 * 2, 0}, {2, 3}}, rank % 2 == 0});
  };
  CHECK(compared({.dp = 4}, with_shares).code == redco::exit_code::done);
  auto const flipped = compared({.dp = 4}, [&](int rank, state& parts) {
    with_shares(rank, parts);
    flip(parts.back().local, 8, rank == 2 ? 4 : 0);
  });
  CHECK(ckpt_test::has(flipped.text, "rank 3 holds other values of optimizer.v.share than rank 2"));
}
