#include "catch.hpp"
#include "walls/expert_bank.hpp"

#include <redco/cost/cost_of.hpp>
#include <redco/shard/legal.hpp>
#include <redco/shard/plan.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <redco/diag/error.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

// A layer that is split over ep is planned like any other layer.

namespace {

using redco::shape::axis, redco::extents, redco::mesh;

constexpr expert_test::mixture model{};
constexpr mesh on{.dp = 2, .ep = 3, .tp = 5};
static_assert(redco::legal<model, on>{});

constexpr redco::shard::entry at(std::string_view name) {
  for (redco::shard::entry const& e : redco::plan_of<model>(on).entries)
    if (e.fact.name.view() == name) return e;
  throw std::out_of_range("no such parameter");
}
static_assert(at("bank.up").local() == extents{2, 2, 4} && at("bank.down").local() == extents{2, 4, 2});
static_assert(at("in.weight").local() == extents{4, 5} && at("in.weight").holders(redco::shape::every_axis) == 30);
static_assert(at("bank.up").holders(redco::shape::every_axis) == 2 &&
              at("bank.up").holders(redco::shape::model_axes) == 1);
// Rank 22 belongs to the second replica; it has index 2 along ep and 4 along tp.
static_assert(at("bank.up").offset(22) == extents{2, 4, 0} && at("bank.down").offset(22) == extents{2, 0, 4});
static_assert(!at("bank.up").owns(22) && at("bank.up").owns(7) && !at("in.weight").owns(7) && at("in.weight").owns(0));

std::string refusal(mesh const& of) {
  try {
    redco::plan_of(model, of);
  } catch (redco::error const& e) {
    return std::to_string(static_cast<int>(e.code())) + " " + e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a layer split over a new axis has equal plans at compile and run time, and refusals name the axis") {
  auto const constant = redco::plan_of<model>(on);
  auto const now = redco::plan_of(model, on);
  REQUIRE(now.entries.size() == constant.entries.size());
  for (std::size_t i = 0; i < now.entries.size(); ++i) CHECK(now.entries[i].local() == constant.entries[i].local());
  CHECK(
      refusal({.ep = 4}) ==
      "64 mesh ep=4: bank.up has 6 units, which 4 ranks along ep do not divide; legal widths are 1, 2, 3, 6: choose one "
      "with --mesh");
  CHECK(
      refusal({.ep = 2, .tp = 4}) ==
      "64 mesh ep=2,tp=4: bank.up has 10 units, which 4 model shards do not divide; legal widths are 1, 2, 5, 10: choose "
      "one with --n-model-shards");
  CHECK(refusal({.pp = 2}) ==
        "64 mesh pp=2: a pipeline stage runs at least one block, and the model has 0 blocks for 2 stages; give 1 stage "
        "with --n-pipeline-stages");
}

TEST_CASE("memory and messages of a layer on a new axis are counted over the groups of its axes") {
  redco::cost::rank_cost const c =
      redco::cost::cost_of(model, redco::adamw{}, {.mesh = on, .load = {4, 6}, .micro_batches = 3});
  std::int64_t const dense = 5 * 4 + 4 + 4 * 3 + 3, experts = 2 * 2 * 2 * 4;
  CHECK(c.memory.parameters == 4 * (dense + experts));
  auto const sent = [&](std::string_view purpose, redco::shape::axes over) {
    for (redco::cost::message_total const& one : c.messages)
      if (one.purpose == purpose && one.over == over) return one;
    return redco::cost::message_total{};
  };
  auto const exchanged = sent("forward exchanges", axis::ep);
  CHECK((exchanged.collective == redco::shape::collective::all_to_all && exchanged.ranks == 3 &&
         exchanged.calls == 2 * 3));
  CHECK(exchanged.payload_bytes == 2 * 3 * 4 * 6 * 4 * 4);
  // An all-reduce would send twice as much
  CHECK(exchanged.wire_bytes == exchanged.payload_bytes / 3 * 2);
  CHECK(sent("backward exchanges", axis::ep) == [&] {
    auto same = exchanged;
    same.purpose = "backward exchanges";
    return same;
  }());
  // A replicated parameter sees the examples of dp x ep, an expert those of dp only.
  auto const whole = sent("gradients", redco::shape::token_axes),
             own = sent("gradients", axis::dp | axis::ds | axis::cp);
  CHECK((whole.ranks == 6 && whole.calls == 1 && whole.payload_bytes == 4 * dense));
  CHECK((own.ranks == 2 && own.calls == 1 && own.payload_bytes == 4 * experts));
  CHECK(sent("gradient norm", redco::shape::model_axes).ranks == 15);
  CHECK(sent("loss and count", redco::shape::every_axis).ranks == 30);
}
