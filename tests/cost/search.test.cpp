#include "catch.hpp"

#include <redco/cost/search.hpp>

#include <redco/cost/cost_of.hpp>
#include <redco/cost/stage_costs.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/optimizer/muon.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/optimizer/state_slots.hpp>
#include <redco/shape/bytes.hpp>
#include <redco/diag/error.hpp>
#include <redco/schedule/pipeline_table.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

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

/// Returns true if both plans have equal settings.
bool alike(redco::cost::setup const& a, redco::cost::setup const& b) {
  return a.mesh == b.mesh && a.load.batch == b.load.batch && a.compute == b.compute && a.recompute == b.recompute &&
         a.micro_batches == b.micro_batches && a.stages == b.stages && a.zero == b.zero;
}

TEST_CASE("a search with pipeline stages has the plans of one without, in their order") {
  redco::cost::search_space space{.load = {8, 64}, .ranks = 4};
  auto const one = search(space);
  space.most_stages = 64;
  auto const all = search(space);
  std::vector<redco::cost::found_plan> found;
  for (redco::cost::found_plan const& p : all.plans)
    if (p.run.mesh.pp == 1) found.push_back(p);
  REQUIRE(found.size() == one.plans.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(alike(found[i].run, one.plans[i].run));
    CHECK(found[i].peak == one.plans[i].peak);
    CHECK(found[i].time.total() == one.plans[i].time.total());
  }
  // Two stages of two ranks with shares of 4 or 8 examples: 3 and 4 micro-batches in two orders,
  // and those of an even number in chunks. Four stages of one rank: orders without chunks.
  CHECK(all.plans.size() - found.size() == (3 * 2 + 2 + 4 * 2 + 3 + 4 * 2) * 2 * 3);
}

TEST_CASE("every plan with pipeline stages is one that a run accepts, with the memory and time of its plan") {
  redco::cost::search_space space{.load = {24, 64}, .ranks = 6, .most_stages = 6};
  auto const found = search(space);
  redco::shard::dynamic_plan const whole = redco::plan_of(model, {.pp = 3}, {}, 2);
  std::set<std::pair<int, int>> orders;  // stages and chunks
  for (std::size_t i = 0; i < found.plans.size(); ++i) {
    redco::cost::found_plan const& p = found.plans[i];
    CHECK(p.run.mesh.ranks() == 6);
    CHECK(p.run.mesh.dp * p.run.micro_batches * p.run.load.batch == 24);
    if (i > 0) CHECK(found.plans[i - 1].time.total() <= p.time.total());
    if (p.run.mesh.pp == 1) continue;
    orders.insert({p.run.mesh.pp, p.run.stages.chunks_per_stage});
    CHECK(p.run.stages.cuts == redco::plan_of(model, p.run.mesh, {}, p.run.stages.chunks_per_stage).stages);
    if (p.run.stages.schedule == redco::schedule::pipeline_kind::interleaved)
      CHECK(p.run.micro_batches % p.run.mesh.pp == 0);
    else CHECK(p.run.stages.chunks_per_stage == 1);
    auto const stages = redco::cost::stage_costs(redco::shard::facts_of(model, p.run.load),
                                                 redco::optimizer::demands_of(redco::adamw{}), p.run);
    CHECK(p.peak == redco::cost::largest_of(stages).cost.memory.peak());
    CHECK(p.time.total() == Approx(redco::cost::pipeline_time_of(stages, p.run, machine()).total()));
    CHECK(p.time.waits > -1e-6);
  }
  // The model has six blocks, for at most six chunks.
  CHECK(orders == std::set<std::pair<int, int>>{{2, 1}, {2, 2}, {3, 1}, {3, 2}, {6, 1}});
  space.most_stages = 2;
  for (redco::cost::found_plan const& p : search(space).plans) CHECK(p.run.mesh.pp <= 2);
}

TEST_CASE("stages are the best plan if no other plan fits the memory, or if links are slow") {
  redco::cost::search_space space{.load = {8, 64}, .ranks = 12, .compute = {redco::dtype::f32}};
  redco::cost::search_space const without = space;
  space.most_stages = 6;
  space.budget = search(without).smallest.peak - 1;
  auto const small = search(space);
  REQUIRE(!small.plans.empty());
  CHECK(small.plans.front().run.mesh.pp > 1);
  space.budget = 0;
  space.hosts = 2;
  redco::cost::machine slow = machine();
  slow.links = {{2, 2, 1, 0, 1e6}};
  auto const found = search(space, slow);
  CHECK(found.plans.front().run.mesh.pp > 1);
}

TEST_CASE("stages with shares sum gradients after backward; some shares and layers allow one stage only") {
  redco::cost::machine linked = machine();
  linked.links = {{4, 4, 1, 1e-4, 1e8}};
  redco::cost::search_space space{.load = {8, 64}, .ranks = 4, .most_stages = 2, .hosts = 4};
  space.gradient_bucket = 1 << 20;
  space.zero = {1};
  bool some = false;
  for (redco::cost::found_plan const& p : search(space, linked).plans) {
    if (p.run.mesh.pp > 1) CHECK(p.run.zero.bucket == 0);
    some = some || p.run.zero.bucket > 0;
  }
  CHECK(some);
  space.zero = {1};
  space.zero_owner = redco::shape::zero_owner::whole;
  for (redco::cost::found_plan const& p : search(space, linked).plans) {
    CHECK(p.run.zero.bucket == 0);
    CHECK(p.run.zero.owner == redco::shape::zero_owner::whole);
  }
  space.zero_owner = redco::shape::zero_owner::element;
  space.zero = {2};
  std::vector<redco::cost::found_plan> const with_shares_of_gradients = search(space, linked).plans;
  REQUIRE(!with_shares_of_gradients.empty());
  for (redco::cost::found_plan const& p : with_shares_of_gradients) CHECK(p.run.mesh.pp == 1);
  using normed = redco::model_of<
      redco::sequential<redco::named<"in", redco::linear<8, 8>>, redco::named<"norm", redco::batch_norm<8>>,
                        redco::named<"h", redco::repeat<4, redco::residual<redco::linear<8, 8>>>>>>;
  auto const of_norm =
      redco::cost::search(normed{}, redco::adamw{}, {.load = {8, 1}, .ranks = 4, .most_stages = 4}, machine());
  REQUIRE(!of_norm.plans.empty());
  for (redco::cost::found_plan const& p : of_norm.plans) CHECK(p.run.mesh.pp == 1);
}

TEST_CASE("all levels of ZeRO are tried where a run accepts them, each once") {
  redco::cost::machine linked = machine();
  linked.links = {{4, 4, 1, 1e-4, 1e8}};
  redco::cost::search_space space{.load = {8, 64}, .ranks = 4, .most_stages = 2, .hosts = 4};
  space.gradient_bucket = 1 << 20;
  space.zero_bucket = 1 << 18;
  space.zero_keep = 2;
  auto const levels_of = [&](redco::mesh const& on, auto const& optimizer) {
    std::multiset<int> levels;
    for (redco::cost::found_plan const& p : redco::cost::search(model, optimizer, space, linked).plans) {
      redco::cost::setup const& run = p.run;
      bool const one_of_many = run.compute == redco::dtype::f32 && !run.recompute.any() && run.micro_batches == 2 &&
                               run.stages.schedule == redco::schedule::pipeline_kind::one_f_one_b;
      if (run.mesh == on && one_of_many) levels.insert(run.zero.level);
      CHECK(run.zero.keep == (run.zero.level == 3 ? 2 : 0));
      bool const overlaps = run.zero.level < 2 && (run.mesh.pp == 1 || run.zero.level == 0) && run.mesh.dp > 1;
      if (run.zero.level > 1) CHECK(run.zero.bucket == (run.mesh.pp == 1 ? 1 << 18 : 0));
      CHECK(run.zero.overlaps == (run.zero.level > 1));
      if (overlaps) CHECK(run.zero.bucket == 1 << 20);
      CHECK(p.peak == redco::cost::cost_of(model, optimizer, run).memory.peak());
    }
    return levels;
  };
  redco::adamw const adamw;
  CHECK(levels_of({.dp = 4}, adamw) == std::multiset<int>{0});
  space.zero = {0, 1, 2, 3};
  CHECK(levels_of({.dp = 4}, adamw) == std::multiset<int>{0, 1, 2, 3});
  CHECK(levels_of({.dp = 2, .tp = 2}, adamw) == std::multiset<int>{0, 1, 2, 3});
  CHECK(levels_of({.pp = 2, .dp = 2}, adamw) == std::multiset<int>{0, 1, 3});
  CHECK(levels_of({.pp = 2, .tp = 2}, adamw) == std::multiset<int>{0});
  CHECK(levels_of({.dp = 4}, redco::optimizer::muon{}) == std::multiset<int>{0});
  space.must_overlap = true;
  CHECK(levels_of({.dp = 4}, adamw) == std::multiset<int>{0, 1, 2, 3});
  CHECK(levels_of({.pp = 2, .dp = 2}, adamw) == std::multiset<int>{0});
  space.must_overlap = false;
  space.zero_keep = 7;
  try {
    static_cast<void>(levels_of({.dp = 4}, adamw));
    FAIL("the model has six blocks");
  } catch (redco::error const& e) {
    CHECK(std::string(e.what()) == "--zero-keep 7: the model has 6 blocks; give 0 to 6");
  }
  // Batch norm meets the other replicas in backward.
  using normed = redco::model_of<
      redco::sequential<redco::named<"in", redco::linear<8, 8>>, redco::named<"norm", redco::batch_norm<8>>>>;
  redco::cost::search_space const of_norm{.load = {8, 1}, .ranks = 4, .zero = {0, 1, 2, 3}};
  for (auto const& p : redco::cost::search(normed{}, redco::adamw{}, of_norm, machine()).plans)
    CHECK(p.run.zero.level < 2);
}

}  // namespace search_test
