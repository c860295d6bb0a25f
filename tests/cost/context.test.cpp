#include "catch.hpp"

#include <redco/cost/cost_of.hpp>
#include <redco/shard/facts.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/t5.hpp>
#include <redco/fact/event.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/sequence_part.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

// Plans of runs whose ranks compute parts of sequences (mesh axis cp).

namespace context_cost_test {

using redco::shape::axis, redco::shape::collective, redco::shape::sequence_part, redco::mesh;

constexpr redco::llama model{
    {.vocab = 23, .context = 64, .width = 16, .ffn = 20, .heads = 4, .kv_heads = 2, .layers = 2}};

inline redco::cost::rank_cost cost(mesh const& on, std::int64_t tokens = 16) {
  return redco::cost::cost_of(model, redco::adamw{}, {.mesh = on, .load = {3, tokens}, .micro_batches = 5});
}

inline redco::cost::message_total sent(redco::cost::rank_cost const& of, std::string_view purpose, collective kind) {
  for (redco::cost::message_total const& one : of.messages)
    if (one.purpose == purpose && one.over == redco::shape::axes(axis::cp) && one.collective == kind) return one;
  return {};
}

// Five micro-batches of three examples; two blocks.
constexpr std::int64_t blocks = 2 * 5, examples = 3, f32 = 4, head_dim = 4;

// Tokens of the parts, and that the parts of all ranks make up the sequence.
static_assert(sequence_part{1, 2, 16}.runs()[0].first == 4 && sequence_part{1, 2, 16}.runs()[1].first == 8);
static_assert(sequence_part{0, 2, 5}.count() == 4 && sequence_part{0, 2, 5}.runs()[1].real == 0 &&
              sequence_part{1, 2, 5}.runs()[1].real == 1);

TEST_CASE("ranks that divide the heads exchange them for tokens") {
  redco::cost::rank_cost const c = cost({.dp = 3, .cp = 2});
  for (std::string_view const purpose : {"forward exchanges", "backward exchanges"}) {
    auto const all = sent(c, purpose, collective::all_to_all);
    CHECK((all.ranks == 2 && all.calls == 2 * blocks));
    CHECK(all.payload_bytes == blocks * examples * 8 * (4 + 2 * 2 + 4) * head_dim * f32);
    CHECK(all.wire_bytes == all.payload_bytes / 2);
  }
  // 18 tokens are 4 runs of 5, so a rank computes 10.
  CHECK(sent(cost({.cp = 2}, 18), "forward exchanges", collective::all_to_all).payload_bytes ==
        blocks * examples * 10 * 12 * head_dim * f32);
  // With two shards, a key-value head each does not divide by two ranks.
  CHECK(sent(cost({.cp = 2, .tp = 2}), "forward exchanges", collective::all_to_all).calls == 0);
}

TEST_CASE("otherwise keys and values go round the ranks, and their gradients in backward") {
  redco::cost::rank_cost const c = cost({.cp = 4});
  std::int64_t const of_block = examples * 4 * 2 * 2 * head_dim * f32;
  for (collective const kind : {collective::send, collective::recv}) {
    auto const forward = sent(c, "forward exchanges", kind), backward = sent(c, "backward exchanges", kind);
    CHECK((forward.calls == 3 * blocks && forward.payload_bytes == 3 * blocks * of_block));
    CHECK((backward.calls == (3 + 4) * blocks && backward.payload_bytes == (3 + 4) * blocks * of_block));
  }
}

TEST_CASE("shards that hold equal key-value heads send them each along cp") {
  for (std::int64_t const kv : {1, 2})
    for (int const shards : {2, 4})
      for (int const parts : {2, 3}) {
        INFO("kv " << kv << ", tp " << shards << ", cp " << parts);
        redco::llama few = model;
        few.config.kv_heads = kv;
        redco::cost::setup run{.mesh = {.cp = parts, .tp = shards}, .load = {3, 24}, .micro_batches = 5};
        run.compute = redco::dtype::bf16;
        redco::cost::rank_cost const c = redco::cost::cost_of(few, redco::adamw{}, run);
        // A shard has at least one head of keys and one of values.
        std::int64_t const held = std::max<std::int64_t>(kv / shards, 1);
        std::int64_t const numbers = examples * (24 / parts) * 2 * held * head_dim, bf16 = 2;
        for (collective const kind : {collective::send, collective::recv}) {
          auto const forward = sent(c, "forward exchanges", kind), backward = sent(c, "backward exchanges", kind);
          CHECK(forward.calls == (parts - 1) * blocks);
          CHECK(forward.payload_bytes == forward.calls * numbers * bf16);
          CHECK(backward.calls == (2 * parts - 1) * blocks);
          CHECK(backward.payload_bytes == forward.payload_bytes + parts * blocks * numbers * f32);
        }
      }
}

TEST_CASE("shards whose key-value heads cp divides exchange their own heads") {
  redco::llama many = model;
  many.config.heads = 8;
  many.config.width = 32;
  many.config.kv_heads = 4;
  redco::cost::setup const run{.mesh = {.cp = 2, .tp = 2}, .load = {3, 16}, .micro_batches = 5};
  redco::cost::rank_cost const c = redco::cost::cost_of(many, redco::adamw{}, run);
  auto const all = sent(c, "forward exchanges", collective::all_to_all);
  CHECK((all.calls == 2 * blocks && all.payload_bytes == blocks * examples * 8 * (4 + 2 * 2 + 4) * head_dim * f32));
}

TEST_CASE("gradients are summed over the ranks of a sequence, and states are shared out over them") {
  redco::cost::rank_cost const c = cost({.dp = 3, .cp = 2});
  for (redco::cost::message_total const& one : c.messages)
    if (one.purpose == "gradients") CHECK((one.ranks == 6 && one.payload_bytes == c.memory.parameters));
  redco::cost::setup run{.mesh = {.dp = 2, .cp = 2}, .load = {3, 16}};
  std::int64_t const whole = redco::cost::cost_of(model, redco::adamw{}, run).memory.optimizer;
  run.zero.level = 1;
  CHECK(redco::cost::cost_of(model, redco::adamw{}, run).memory.optimizer == (whole / 8 + 3) / 4 * 8);
}

TEST_CASE("activations and operations are divided over the ranks of a sequence") {
  auto const one = cost({}), two = cost({.cp = 2}), four = cost({.cp = 4});
  // Exchanged heads are also saved as input of the output projection.
  CHECK(two.memory.activations == one.memory.activations / 2 + 2 * examples * 8 * 16 * f32);
  CHECK(four.memory.activations == one.memory.activations / 4);
  CHECK(two.operations.total() == one.operations.total() / 2);
  CHECK(four.operations.total() == one.operations.total() / 4);
}

TEST_CASE("backward of a ring holds sums of the gradients of queries and of two blocks") {
  auto const sums = [](mesh const& on) {
    redco::cost::setup const run{.mesh = on, .load = {3, 16}};
    std::int64_t elements = 0;
    for (redco::fact::event const& e : redco::shard::facts_of(model, run.rank_load()).events)
      if (e.kind == redco::fact::event_kind::hold && (e.slot == "query_sums" || e.slot.ends_with("block_sums")))
        elements += e.tensor.shape.count();
    return elements;
  };
  CHECK(sums({.cp = 2}) == 0);
  CHECK(sums({.cp = 4}) == examples * 4 * (4 + 2 * 2 * 2) * head_dim);
}

TEST_CASE("batches have whole sequences on each rank, which also holds its own part") {
  std::int64_t const whole = cost({}).memory.batches / 3;  // one in use, and two prepared ahead
  CHECK(cost({.cp = 2}).memory.batches == 3 * whole + whole / 2);
  CHECK(cost({.cp = 4}).memory.batches == 3 * whole + whole / 4);
}

TEST_CASE("stages pass on their rank's tokens of each sequence") {
  for (collective const kind : {collective::send, collective::recv}) {
    auto const bytes = [&](mesh const& on) {
      std::int64_t sum = 0;
      for (redco::cost::message_total const& one : cost(on).messages)
        if (one.over == redco::shape::axes(axis::pp) && one.collective == kind) sum += one.payload_bytes;
      return sum;
    };
    CHECK(bytes({.pp = 2}) > 0);
    CHECK(bytes({.pp = 2, .cp = 2}) == bytes({.pp = 2}) / 2);
  }
}

TEST_CASE("a plan refuses parts of sequences for layers that need whole ones") {
  auto const refused = [](auto const& of, mesh const& on) {
    try {
      redco::plan_of(of, on);
    } catch (redco::error const& e) {
      return std::to_string(static_cast<int>(e.code())) + " " + e.what();
    }
    return std::string("accepted");
  };
  CHECK(refused(model, {.cp = 8}) == "accepted");
  CHECK(refused(model, {.pp = 2, .cp = 2}) == "accepted");
  CHECK(
      refused(redco::t5{}, {.cp = 2}) ==
      "64 mesh cp=2: the model has a layer that needs whole sequences, and cp divides them (causal and full attention "
      "and layers of single tokens do not); give cp=1");
}

}  // namespace context_cost_test
