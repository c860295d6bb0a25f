#include "zero_walk.hpp"

#include "catch.hpp"

#include <redco/cost/checks.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/cost/simulation.hpp>
#include <redco/cost/stage_costs.hpp>
#include <redco/shard/facts.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/t5.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/zero.hpp>
#include <redco/diag/error.hpp>
#include <redco/adapt/plan/with_lora.hpp>
#include <redco/schedule/pipeline_table.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

// Compares the plan of runs whose replicas keep shares of the parameters (ZeRO 3) with a step over
// the flat buffers of all parameters, one by one.

namespace zero_plan_test {

using namespace redco;

llama const untied{{.vocab = 53, .context = 16, .width = 12, .ffn = 20, .heads = 2, .kv_heads = 1, .layers = 3}};
t5 const two_stacks{{.vocab = 40, .width = 12, .ffn = 20, .heads = 2, .head_dim = 6, .layers = 3, .decoder_layers = 2}};
with_lora<gpt2> const adapted{{tied.config, {.rank = 2, .targets = "q,v,down"}}};

using one_kind = residual<sequential<linear<12, 20>, relu, linear<20, 12>>>;
using other_kind = residual<linear<12, 12, false>>;
struct alternating {
  using net =
      sequential<named<"in", linear<5, 12>>, named<"h", repeat<5, one_kind, other_kind>>, named<"out", linear<12, 3>>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, 5}; }
};
struct blockless {
  using net = sequential<named<"in", linear<5, 12>>, relu, named<"out", linear<12, 3>>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, 5}; }
};

void check(walk const& step, cost::rank_cost const& plan, cost::setup const& s) {
  std::int64_t const element = shape::size_of(s.compute), master = shape::size_of(cost::accumulate_type(s.compute));
  CHECK(plan.memory.parameters == step.kept(false) * element);
  CHECK(plan.memory.gradients == (s.mesh.pp == 1 ? step.kept(true) : step.regions.trained()) * element);
  CHECK(plan.memory.masters == (element == master ? 0 : step.kept(false) * master));
  CHECK(plan.memory.optimizer == 2 * step.kept(true) * master);
  CHECK((plan.memory.shares_workspace > 0) == (s.mesh.pp > 1));
  CHECK(plan.memory.gradient_buckets == 0);
  std::map<unsigned, shape::traffic::entry> gathers, sums;
  shape::traffic::entry copies;  // sums of equal shares over groups of replicas
  for (cost::message_total const& one : plan.messages) {
    auto& of = one.purpose == cost::messages::name_of_parameters ? gathers : sums;
    bool const is_sum = one.purpose == cost::messages::name_of_gradients;
    if (is_sum && one.collective == shape::collective::all_reduce) {
      copies += one;
      continue;
    }
    if (one.calls == 0 || (&of == &sums && !is_sum)) continue;
    CHECK(one.collective == (is_sum ? shape::collective::reduce_scatter : shape::collective::all_gather));
    of[one.over.bits].calls += one.calls;
    of[one.over.bits].payload_bytes += one.payload_bytes;
  }
  auto const is_equal = [](auto const& planned, auto const& walked) {
    bool equal = planned.size() == walked.size();
    for (auto const& [over, one] : walked)
      equal = equal && planned.contains(over) && planned.at(over).calls == one.calls &&
              planned.at(over).payload_bytes == one.payload_bytes;
    return equal;
  };
  CHECK(is_equal(gathers, step.gathers));
  CHECK(is_equal(sums, step.sums));
  CHECK(copies.calls == (s.zero.shared_over == shape::token_axes ? 0 : 1));
  CHECK(copies.payload_bytes == copies.calls * step.first_kept * element);
}

template <class Model>
void check(Model const& model, cost::setup const& s) {
  check(walk(model, s), cost::cost_of(model, adamw{}, s), s);
}

template <class Model>
void check_all(Model const& model, workload const& load, std::vector<int> const& widths = {1, 2}) {
  for (int const tp : widths)
    for (int const dp : {2, 3, 4})
      for (dtype const type : {dtype::f32, dtype::bf16})
        for (std::int64_t const bucket : {0, 64, 1000})
          for (std::int64_t const micro_batches : {1, 2, 4}) {
            cost::setup s{.mesh = {.dp = dp, .tp = tp}, .load = load, .compute = type};
            s.micro_batches = micro_batches;
            s.zero.bucket = bucket;
            s.zero.level = 3;
            std::int64_t const blocks = walk(model, s).blocks;
            for (s.zero.keep = 0; s.zero.keep <= blocks; ++s.zero.keep) {
              INFO("dp " << dp << ", tp " << tp << ", " << name_of(type) << ", buckets of " << bucket << ", "
                         << micro_batches << " micro-batches, " << s.zero.keep << " blocks kept");
              check(model, s);
            }
          }
}

TEST_CASE("shares and messages of ZeRO 3 are those of a step that gathers each block before use") {
  check_all(tied, {2, 8});
  check_all(untied, {2, 8}, {1});
  check_all(two_stacks, {2, 8}, {1});
  check_all(adapted, {2, 8});
  check_all(alternating{}, {4, 1}, {1});
  check_all(blockless{}, {4, 1}, {1});
}

/// Checks a run whose matrices belong to replicas, for AdamW, and for Adafactor, which owns all
/// parameters.
template <class Model>
void check_owned(Model const& model, cost::setup s) {
  s.zero.owner = shape::zero_owner::whole;
  for (int const dp : {2, 3, 5})
    for (dtype const type : {dtype::f32, dtype::bf16})
      for (std::int64_t const micro_batches : {1, 3}) {
        INFO("dp " << dp << ", " << name_of(type) << ", " << micro_batches << " micro-batches");
        s.mesh.dp = dp;
        s.compute = type;
        s.micro_batches = micro_batches;
        check(model, s);
        cost::rank_cost const all = cost::cost_of(model, optimizer::adafactor{}, s);
        walk const owned(model, s, 0, true);
        std::int64_t gathered = 0, calls = 0, bytes = 0;
        for (std::int64_t block = -1; block < owned.blocks; ++block)
          if (block < s.zero.keep || block == owned.blocks - 1) gathered += owned.values.at(block);
        CHECK(all.memory.gathered == gathered * shape::size_of(type));
        for (cost::message_total const& one : all.messages)
          if (one.purpose == cost::messages::name_of_parameters) calls += one.calls, bytes += one.payload_bytes;
        for (auto const& [over, one] : owned.gathers) calls -= one.calls, bytes -= one.payload_bytes;
        CHECK(calls == 0);
        CHECK(bytes == 0);
      }
}

TEST_CASE("blocks whose matrices belong to replicas have the shares and messages of a layout of all parameters") {
  cost::setup s{.load = {2, 8}};
  s.zero.level = 3;
  for (std::int64_t const bucket : {0, 256})
    for (std::int64_t const keep : {0, 2}) {
      INFO("buckets of " << bucket << ", " << keep << " blocks kept");
      s.zero.bucket = bucket;
      s.zero.keep = keep;
      check_owned(tied, s);
      check_owned(two_stacks, s);
      check_owned(adapted, s);
      s.mesh.tp = 2;
      check_owned(tied, s);
      s.mesh.tp = 1;
      s.load = {4, 1};
      check_owned(alternating{}, s);
      s.load = {2, 8};
    }
}

TEST_CASE("pipeline stages gather the blocks of each computation, in the order of their schedule") {
  using schedule::pipeline_kind;
  gpt2 long_model = tied;
  long_model.config.layers = 8;
  auto const check_stages = [](auto const& model, mesh const& on, pipeline_kind kind, int chunks) {
    for (dtype const type : {dtype::f32, dtype::bf16})
      for (std::int64_t const keep : {0, 1, 5}) {
        cost::setup s{.mesh = on, .load = {1, 8}, .compute = type};
        s.micro_batches = 4;
        s.zero.level = 3;
        s.zero.keep = keep;
        s.stages.schedule = kind;
        s.stages.chunks_per_stage = chunks;
        auto const all = cost::stage_costs(shard::facts_of(model, s.load), optimizer::demands_of(adamw{}), s);
        for (int stage = 0; stage < on.pp; ++stage) {
          INFO("stage " << stage << " of " << on.pp << ", " << name_of(type) << ", " << keep << " blocks kept");
          check(walk(model, s, stage), all[static_cast<std::size_t>(stage)].cost, s);
        }
      }
  };
  check_stages(long_model, {.pp = 2, .dp = 2}, pipeline_kind::one_f_one_b, 1);
  check_stages(long_model, {.pp = 4, .dp = 3}, pipeline_kind::gpipe, 1);
  check_stages(long_model, {.pp = 2, .dp = 2, .tp = 2}, pipeline_kind::interleaved, 2);
  check_stages(two_stacks, {.pp = 2, .dp = 2}, pipeline_kind::one_f_one_b, 1);
}

TEST_CASE("the moments of a stage with gathered blocks have its values, and their largest total is its peak") {
  gpt2 const model{{.vocab = 53, .context = 16, .width = 12, .heads = 2, .layers = 8}};
  for (int const chunks : {1, 2}) {
    cost::setup s{.mesh = {.pp = 2, .dp = 2}, .load = {1, 8}};
    s.micro_batches = 4;
    s.zero.level = 3;
    s.stages.schedule = chunks == 1 ? schedule::pipeline_kind::one_f_one_b : schedule::pipeline_kind::interleaved;
    s.stages.chunks_per_stage = chunks;
    auto const facts = shard::facts_of(model, s.load);
    auto const demands = optimizer::demands_of(adamw{});
    auto const stages = cost::stage_costs(facts, demands, s);
    auto const moments = cost::stage_moments(facts, demands, s);
    for (int stage = 0; stage < 2; ++stage) {
      cost::memory const& m = stages[static_cast<std::size_t>(stage)].cost.memory;
      walk const step(model, s, stage);
      std::int64_t const held = 4 * (step.values.at(-1) + step.values.rbegin()->second);
      CHECK(m.gathered == held);
      CHECK(m.backward.gathered == held);
      CHECK(m.shares_workspace > held);
      std::int64_t most = 0;
      for (cost::stage_moment const& one : moments[static_cast<std::size_t>(stage)]) {
        CHECK(one.gathered == held);
        most = std::max({most, one.bytes(), one.at_arrival});
      }
      CHECK(m.persistent() + std::max(most, m.shares_workspace) == m.peak());
    }
  }
}

TEST_CASE("a model of one block gathers it once per step, and replicas of several axes share the same") {
  check_all(gpt2{{.vocab = 53, .context = 16, .width = 12, .heads = 2, .layers = 1}}, {2, 8}, {1});
  cost::setup s{.mesh = {.dp = 2, .ep = 2}, .load = {2, 8}};
  s.zero.level = 3;
  check(tied, s);
}

TEST_CASE("replicas of a group share state out, and the groups sum the gradients of the shares they keep alike") {
  cost::setup s{.mesh = {.dp = 2}, .load = {2, 8}};
  s.zero.level = 3;
  s.zero.shared_over = shape::axis::ds | shape::axis::ep;
  for (int const replicas : {2, 3})
    for (std::int64_t const bucket : {0, 256}) {
      INFO("groups of " << replicas << ", buckets of " << bucket);
      s.mesh.ds = replicas;
      s.zero.bucket = bucket;
      check(tied, s);
      check(adapted, s);
      check_owned(tied, s);
      check_owned(two_stacks, s);
    }
}

/// Returns the elements of the values of block `block` (-1: of layers outside blocks).
template <class Model>
std::int64_t values_of(Model const& model, cost::setup const& s, std::int64_t block) {
  walk const step(model, s);
  auto const at = step.values.find(block);
  return at == step.values.end() ? 0 : at->second;
}

TEST_CASE("the loss holds layers outside blocks, the last block and kept blocks, and backward its block") {
  for (std::int64_t keep = 0; keep <= 5; ++keep) {
    cost::setup s{.mesh = {.dp = 2}, .load = {2, 8}};
    s.zero.level = 3;
    s.zero.keep = keep;
    std::int64_t gathered = values_of(two_stacks, s, -1);
    for (std::int64_t block = 0; block < 5; ++block)
      if (block < keep || block == 4) gathered += values_of(two_stacks, s, block);
    cost::memory const m = cost::cost_of(two_stacks, adamw{}, s).memory;
    CHECK(m.gathered == 4 * gathered);
    CHECK(m.at_loss() == m.persistent() + m.activations + m.loss + m.loss_workspace + m.gathered);
    // Moments in the decoder's last block and in the encoder's last block.
    auto const facts = shard::facts_of(two_stacks, s.load);
    cost::simulation const of(facts, s);
    bool of_decoder = false, of_encoder = false;
    for (cost::moment const& one : of.moments()) {
      if (one.when == cost::moment::phase::update) CHECK(one.gathered == 0);
      if (one.when != cost::moment::phase::backward || one.block < 0) continue;
      bool const decodes = one.block == 1;
      std::int64_t const block = decodes ? 4 : 2;
      std::int64_t whole = values_of(two_stacks, s, -1);
      for (std::int64_t other = 0; other < 5; ++other)
        if (other < keep || other == block) whole += values_of(two_stacks, s, other);
      CHECK(one.gathered == 4 * whole);
      (decodes ? of_decoder : of_encoder) = true;
    }
    CHECK((of_decoder && of_encoder));
  }
}

TEST_CASE("gathers and sums that overlap hold the next block, and a bucket more") {
  cost::setup s{.mesh = {.dp = 2}, .load = {2, 8}};
  s.zero.level = 3;
  auto const facts = shard::facts_of(two_stacks, s.load);
  auto const moments_of = [&](cost::setup const& run, std::int64_t of_stack) {
    std::vector<cost::moment> some;
    cost::simulation const of(facts, run);
    for (cost::moment const& one : of.moments())
      if (one.when == cost::moment::phase::backward && one.block == of_stack) some.push_back(one);
    return some;
  };
  for (std::int64_t const keep : {0, 1, 2, 4}) {
    s.zero.keep = keep;
    s.zero.overlaps = true;
    cost::setup alone = s;
    alone.zero.overlaps = false;
    std::int64_t const encoder = 4 * values_of(two_stacks, s, 0), decoder = 4 * values_of(two_stacks, s, 3);
    CHECK(decoder > encoder);
    CHECK(cost::cost_of(two_stacks, adamw{}, s).messages == cost::cost_of(two_stacks, adamw{}, alone).messages);
    CHECK(cost::cost_of(two_stacks, adamw{}, s).memory.gathered ==
          cost::cost_of(two_stacks, adamw{}, alone).memory.gathered);
    // Before the last block of the decoder comes the other one, and before that of the encoder two.
    for (std::int64_t const stack : {1, 2}) {
      auto const during = moments_of(s, stack), after = moments_of(alone, stack);
      REQUIRE(!during.empty());
      REQUIRE(during.size() == after.size());
      for (std::size_t i = 0; i < during.size(); ++i) {
        std::int64_t const next = stack == 1 ? (keep < 4 ? decoder : 0) : (keep < 2 ? encoder : 0);
        CHECK(during[i].gathered == after[i].gathered + next);
        // A block of the decoder has the largest bucket.
        CHECK(during[i].gradients == after[i].gradients + decoder);
      }
    }
  }
  s.zero.level = 2;
  s.zero.keep = 0;
  s.zero.bucket = 1 << 10;
  s.zero.overlaps = true;
  std::int64_t const during = cost::cost_of(tied, adamw{}, s).memory.gradient_buckets;
  s.zero.overlaps = false;
  CHECK(during == cost::cost_of(tied, adamw{}, s).memory.gradient_buckets + (1 << 10));
}

TEST_CASE("the peak falls by the shares that other replicas keep, and rises with the kept blocks") {
  gpt2 const model{{.vocab = 512, .context = 64, .width = 64, .heads = 4, .layers = 8}};
  auto const memory = [&](int level, std::int64_t keep = 0, int dp = 4) {
    cost::setup s{.mesh = {.dp = dp}, .load = {1, 64}};
    s.zero.level = level;
    s.zero.keep = keep;
    s.zero.bucket = level == 2 ? 1 << 16 : 0;
    return cost::cost_of(model, adamw{}, s).memory;
  };
  CHECK(memory(3).peak() < memory(2).peak());
  CHECK(memory(2).peak() < memory(1).peak());
  CHECK(memory(3, 0, 1) == memory(0, 0, 1));
  cost::setup s{.mesh = {.dp = 4}, .load = {1, 64}};
  s.zero.level = 3;
  std::int64_t const block = 4 * values_of(model, s, 0), outside = 4 * values_of(model, s, -1);
  CHECK(memory(3).gathered == outside + block);
  for (std::int64_t keep = 1; keep < 8; ++keep) {
    CHECK(memory(3, keep).gathered == memory(3).gathered + keep * block);
    CHECK(memory(3, keep).peak() == memory(3).peak() + keep * block);
    CHECK(memory(3, keep).persistent() == memory(3).persistent());
  }
  CHECK(memory(3, 8).gathered == outside + 8 * block);
  // Backward of a block holds its gradients, a copy of a share, and the tied table's gradient.
  cost::memory const m = memory(3);
  std::int64_t const without = memory(0).backward.gradients;
  CHECK(m.backward.gradients == without + block + outside + block / 4 + 4 * 512 * 64);
  CHECK(m.at_backward() == m.persistent() + m.backward.activations + m.backward.gradients + m.backward.gathered);
  CHECK(m.backward.gathered == outside + block);
}

TEST_CASE("impossible numbers of kept blocks are refused with the legal ones") {
  auto const refusal = [](auto const& model, int level, std::int64_t keep) -> std::string {
    cost::setup s{.mesh = {.dp = 2}, .load = {2, 8}};
    s.zero.level = level;
    s.zero.keep = keep;
    try {
      static_cast<void>(cost::cost_of(model, adamw{}, s));
    } catch (error const& e) {
      return std::to_string(static_cast<int>(e.code())) + " " + e.what();
    }
    return "accepted";
  };
  for (std::int64_t const keep : {0, 1, 4}) CHECK(refusal(tied, 3, keep) == "accepted");
  CHECK(refusal(two_stacks, 3, 5) == "accepted");
  CHECK(refusal(tied, 3, 5) == "64 --zero-keep 5: the model has 4 blocks; give 0 to 4");
  CHECK(refusal(two_stacks, 3, 6) == "64 --zero-keep 6: the model has 5 blocks; give 0 to 5");
  CHECK(refusal(blockless{}, 3, 1) == "64 --zero-keep 1: the model has no blocks; leave it out");
  CHECK(refusal(tied, 3, -1).starts_with("64 --zero-keep -1: give the number of blocks, from 0 on"));
  CHECK(refusal(tied, 2, 1).starts_with("64 --zero-keep 1 with --zero 2: only with --zero 3"));
}

}  // namespace zero_plan_test
