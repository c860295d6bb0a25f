#include "catch.hpp"

#include <redco/cost/saved_slots.hpp>
#include <redco/cost/simulation.hpp>
#include <redco/shard/facts.hpp>
#include <redco/model/bart.hpp>
#include <redco/model/bert.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/gpt_neox.hpp>
#include <redco/model/gptj.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/olmo2.hpp>
#include <redco/model/opt.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/model/t5.hpp>
#include <redco/model/vision_encoder_decoder.hpp>
#include <redco/model/vit.hpp>
#include <redco/options/value_text.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using redco::cost::saved_slot, redco::cost::setup;

template <class Model>
void check_sum(Model const& of) {
  redco::workload const load{.batch = 4, .sequence = 18, .source = 10};
  redco::fact::program const facts = redco::shard::facts_of(of, load);
  for (int const tp : {1, 2, 8})
    for (redco::recomputed_blocks const& recompute :
         {redco::recomputed_blocks(false), redco::recomputed_blocks(true), redco::recomputed_blocks::every_kth(2),
          redco::recomputed_blocks::first_n(1), redco::recomputed_blocks::in_range({1, 2})})
      for (redco::dtype const compute : {redco::dtype::f64, redco::dtype::bf16}) {
        setup const run{.mesh = {.tp = tp}, .load = load, .compute = compute, .recompute = recompute};
        std::int64_t sum = 0;
        for (saved_slot const& one : redco::cost::saved_slots(facts, run)) sum += one.bytes();
        INFO("tp " << tp << " recompute " << redco::options::to_text(recompute) << " " << name_of(compute));
        CHECK(sum == redco::cost::simulation(facts, run).activations());
      }
}

template <class Model>
void check_both_forms() {
  check_sum(Model{});
  check_sum(redco::models::sequence_parallel<Model>{});
}

std::string text_of(saved_slot const& s) {
  std::string text(name_of(s.type));
  for (int dim = 0; dim < s.shape.rank; ++dim) text += (dim == 0 ? " " : "x") + std::to_string(s.shape[dim]);
  for (saved_slot::owner const& one : s.owners) text += ", " + one.layer + ":" + one.name;
  return text;
}

template <class Model>
std::vector<std::string> texts_of(Model const& of, setup const& run) {
  std::vector<std::string> all;
  for (saved_slot const& one : redco::cost::saved_slots(redco::shard::facts_of(of, run.load), run))
    all.push_back(text_of(one));
  return all;
}

}  // namespace

TEST_CASE("the slots of every family add up to the planned activations") {
  check_both_forms<redco::bart>();
  check_both_forms<redco::bert>();
  check_both_forms<redco::gpt2>();
  check_both_forms<redco::gptj>();
  check_both_forms<redco::llama>();
  check_both_forms<redco::models::gpt_neox>();
  check_both_forms<redco::models::olmo2>();
  check_both_forms<redco::opt>();
  check_both_forms<redco::models::opt_post_norm>();
  check_both_forms<redco::roberta>();
  check_both_forms<redco::t5>();
  check_both_forms<redco::models::t5_gated>();
  check_both_forms<redco::vit>();
  check_both_forms<redco::models::vision_encoder_decoder>();
}

TEST_CASE("slots have the names of their layers in each block") {
  redco::llama const small{{.vocab = 64, .width = 16, .ffn = 24, .heads = 4, .kv_heads = 2, .layers = 2}};
  setup run{.mesh = {.tp = 2}, .load = {3, 5}, .compute = redco::dtype::bf16};
  auto const block = [](std::string const& h) {
    return std::vector<std::string>{
        "bf16 3x5x16, " + h + "input_layernorm:input",
        "f32 3x5x1, " + h + "input_layernorm:inverse_deviation",
        "bf16 3x5x16, " + h + "self_attn:input",
        "bf16 3x5x16, " + h + "self_attn:q, key_value",
        "f32 3x2x5, " + h + "self_attn:log_sum_exp",
        "bf16 3x5x8, " + h + "self_attn:output",
        "bf16 3x5x16, " + h + "post_attention_layernorm:input",
        "f32 3x5x1, " + h + "post_attention_layernorm:inverse_deviation",
        "bf16 3x5x16, " + h + "mlp:input",
        "bf16 3x5x24, " + h + "mlp:gate_and_up",
        "bf16 3x5x12, " + h + "mlp.down:input",
    };
  };
  std::vector<std::string> expected{"i64 3x5, embed_tokens:local_ids"};
  for (std::string const h : {"layers.0.", "layers.1."})
    for (std::string const& one : block(h)) expected.push_back(one);
  for (std::string const one :
       {"bf16 3x5x16, norm:input", "f32 3x5x1, norm:inverse_deviation", "bf16 3x5x16, lm_head:hidden"})
    expected.push_back(one);
  CHECK(texts_of(small, run) == expected);

  run.recompute = true;
  CHECK(texts_of(small, run) ==
        std::vector<std::string>{"i64 3x5, embed_tokens:local_ids", "bf16 3x5x16, layers.0:block_input",
                                 "bf16 3x5x16, layers.1:block_input", "bf16 3x5x16, norm:input",
                                 "f32 3x5x1, norm:inverse_deviation", "bf16 3x5x16, lm_head:hidden"});
}

TEST_CASE("an activation is one slot for all layers that save it, within a block and across blocks") {
  using redco::linear, redco::named, redco::relu, redco::repeat, redco::sequential;
  using pair = sequential<named<"a", linear<20, 12>>, relu, named<"b", linear<12, 6>>>;
  CHECK(texts_of(redco::model_of<pair>{}, {.mesh = {.tp = 2}, .load = {5, 1}}) ==
        std::vector<std::string>{"f32 5x6, :output, b:input"});

  using block = sequential<named<"up", linear<8, 8>>, relu>;
  using deep = sequential<named<"in", linear<20, 8>>, relu, named<"h", repeat<3, block>>, named<"out", linear<8, 6>>>;
  setup run{.load = {5, 1}};
  CHECK(texts_of(redco::model_of<deep>{}, run) ==
        std::vector<std::string>{"f32 5x8, :output, h.0.up:input", "f32 5x8, h.0:output, h.1.up:input",
                                 "f32 5x8, h.1:output, h.2.up:input", "f32 5x8, h.2:output, out:input"});
  check_sum(redco::model_of<deep>{});

  // A cycle of two blocks whose last round is incomplete
  using other = sequential<named<"down", linear<8, 8>>, relu>;
  using turns =
      sequential<named<"in", linear<20, 8>>, relu, named<"h", repeat<3, block, other>>, named<"out", linear<8, 6>>>;
  CHECK(texts_of(redco::model_of<turns>{}, run) ==
        std::vector<std::string>{"f32 5x8, :output, h.0.up:input", "f32 5x8, h.0:output, h.1.down:input",
                                 "f32 5x8, h.1:output, h.2.up:input", "f32 5x8, h.2:output, out:input"});
  check_sum(redco::model_of<turns>{});

  run.recompute = redco::recomputed_blocks::in_range({1, 2});
  CHECK(texts_of(redco::model_of<deep>{}, run) ==
        std::vector<std::string>{"f32 5x8, :output, h.0.up:input", "f32 5x8, h.0:output, h.1:block_input",
                                 "f32 5x8, h.2.up:input", "f32 5x8, h.2:output, out:input"});
  run.recompute = true;
  CHECK(texts_of(redco::model_of<deep>{}, run) ==
        std::vector<std::string>{"f32 5x8, :output, h.0:block_input", "f32 5x8, h.1:block_input",
                                 "f32 5x8, h.2:block_input", "f32 5x8, out:input"});
}
