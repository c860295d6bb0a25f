#include "catch.hpp"

#include <redco/cost/search.hpp>

#include <redco/model/gpt2.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/bytes.hpp>

#include <algorithm>

namespace search_test {

redco::gpt2 const model{{.vocab = 256, .context = 256, .width = 384, .heads = 6, .layers = 6}};

redco::cost::machine machine(double faster = 1) {
  return {.compute = {{redco::dtype::f32, 1, 1e11 * faster, 1e10 * faster, 1e10 * faster, 1e-6 / faster},
                      {redco::dtype::f32, 2, 2e11 * faster, 2e10 * faster, 2e10 * faster, 1e-6 / faster},
                      {redco::dtype::bf16, 1, 3e11 * faster, 2e10 * faster, 2e10 * faster, 1e-6 / faster}},
          .groups = {{2, 2, 1e-5 / faster, 1e9 * faster}, {4, 4, 2e-5 / faster, 1e9 * faster}},
          .update_bytes_per_second = 1e10 * faster};
}

redco::cost::search_result search(redco::cost::search_space const& space, redco::cost::machine const& on = machine()) {
  return redco::cost::search(model, redco::adamw{}, space, on);
}

TEST_CASE("every plan is legal, fits, and computes the same global batch") {
  redco::cost::search_space const space{.load = {24, 256}, .ranks = 6, .budget = redco::shape::MiB(250)};
  auto const found = search(space);
  auto const all = search({.load = {24, 256}, .ranks = 6});
  REQUIRE(!found.plans.empty());
  CHECK(found.plans.size() < all.plans.size());
  auto const legal = redco::shard::legal_widths(redco::shard::facts_of(model).parameters);
  for (redco::cost::found_plan const& p : found.plans) {
    CHECK(p.run.mesh.ranks() == 6);
    CHECK(std::count(legal.begin(), legal.end(), p.run.mesh.tp) == 1);
    CHECK(p.run.mesh.dp * p.run.micro_batches * p.run.load.batch == 24);
    CHECK(p.run.load.sequence == 256);
    CHECK(p.peak == redco::cost::cost_of(model, redco::adamw{}, p.run).memory.peak());
    CHECK(p.peak <= redco::shape::MiB(250));
  }
}

TEST_CASE("all meshes, micro-batches, dtypes and recomputation are tried once, the fastest first") {
  auto const found = search({.load = {8, 64}, .ranks = 4});
  // 6 heads allow 1 and 2 shards. Shares of 2 and 4 examples can be divided in 2 and 3 ways.
  CHECK(found.plans.size() == (2 + 3) * 2 * 3);
  for (std::size_t i = 1; i < found.plans.size(); ++i)
    CHECK(found.plans[i - 1].time.total() <= found.plans[i].time.total());
  for (redco::cost::found_plan const& p : found.plans) CHECK(p.peak >= found.smallest.peak);
}

TEST_CASE("split tokens are tried on every mesh that has more than one shard") {
  redco::cost::search_space const space{.load = {8, 64}, .ranks = 4};
  auto const both = redco::cost::search_both_forms(model, redco::adamw{}, space, machine());
  CHECK(both.plans.size() == search(space).plans.size() + 3 * 2 * 3);
  redco::models::sequence_parallel<redco::gpt2> const split{model.config};
  for (std::size_t i = 0; i < both.plans.size(); ++i) {
    redco::cost::found_plan const& p = both.plans[i];
    if (i > 0) CHECK(both.plans[i - 1].time.total() <= p.time.total());
    if (!p.sequence_parallel) continue;
    CHECK(p.run.mesh.tp == 2);
    CHECK(p.peak == redco::cost::cost_of(split, redco::adamw{}, p.run).memory.peak());
  }
  CHECK(both.smallest.sequence_parallel);
  CHECK(both.smallest.peak < search(space).smallest.peak);
}

TEST_CASE("a faster machine takes less time for every plan, and no other plan is found") {
  redco::cost::search_space const space{.load = {8, 64}, .ranks = 2};
  auto const slow = search(space), fast = search(space, machine(2));
  REQUIRE(slow.plans.size() == fast.plans.size());
  for (std::size_t i = 0; i < slow.plans.size(); ++i) {
    CHECK(slow.plans[i].peak == fast.plans[i].peak);
    CHECK(fast.plans[i].time.total() == Approx(slow.plans[i].time.total() / 2));
  }
}

TEST_CASE("plans for several hosts take the time of the link between the hosts") {
  redco::cost::machine linked = machine();
  linked.links = {{2, 2, 1, 1e-4, 1e8}};
  redco::cost::search_space const space{.load = {8, 64}, .ranks = 4, .hosts = 2};
  auto const found = search(space, linked);
  CHECK(found.plans.size() == search({.load = {8, 64}, .ranks = 4}).plans.size());
  for (redco::cost::found_plan const& p : found.plans) {
    CHECK(p.run.hosts == 2);
    auto const cost = redco::cost::cost_of(model, redco::adamw{}, p.run);
    CHECK(p.time.total() == Approx(redco::cost::step_time_of(cost, p.run, linked).total()));
  }
  CHECK_THROWS_AS(search({.load = {8, 64}, .ranks = 4, .hosts = 3}, linked), redco::error);
  // If a link is slow enough, the plan that sends the least over it is the fastest.
  linked.links = {{2, 2, 1, 0, 10}};
  auto const sent = [](redco::cost::found_plan const& p) {
    return redco::cost::cost_of_program(redco::shard::facts_of(model, p.run.load), 2, p.run).messages.host_bytes();
  };
  auto const slow = search({.load = {6, 64}, .ranks = 6, .hosts = 2}, linked);
  std::int64_t least = sent(slow.plans.front());
  CHECK(least > 0);
  for (redco::cost::found_plan const& p : slow.plans) {
    CHECK(sent(p) >= least);
    least = sent(p);
  }
  CHECK(least > 2 * sent(slow.plans.front()));
}

TEST_CASE("the smallest plan is reported if no plan fits") {
  auto const found = search({.load = {8, 64}, .ranks = 2, .budget = redco::shape::MiB(1)});
  CHECK(found.plans.empty());
  CHECK(found.smallest.peak > redco::shape::MiB(1));
  CHECK(found.smallest.run.load.batch == 1);
  CHECK(found.smallest.run.recompute == true);
}

TEST_CASE("ranks that cannot share the batch are refused with numbers that can") {
  try {
    search({.load = {7, 64}, .ranks = 10});
    FAIL("no error");
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::usage);
    CHECK(
        std::string(e.what()) ==
        "a global batch of 7 cannot be shared equally by 10 ranks, of which 1, 2 hold one copy of the model; choose a "
        "batch that 5 divides");
  }
}

}  // namespace search_test
