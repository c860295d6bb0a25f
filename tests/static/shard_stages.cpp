// Pipeline stages of every parameter: tied and shared tables, uneven stages, alternating and
// rewritten blocks, models that cannot be cut.
#include <redco/shard/legal.hpp>
#include <redco/shard/plan.hpp>
#include <redco/shard/stages.hpp>
#include <redco/model/bart.hpp>
#include <redco/model/bert.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/gpt_neo.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/t5.hpp>
#include <redco/model/vision_encoder_decoder.hpp>
#include <redco/model/vit.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace {

using redco::shape::stage_cuts;
using redco::shape::stage_set;

/// Returns true if exactly the stages `wanted` hold a parameter. `block` is the index of its block
/// in its outermost repeat.
template <auto const& Model>
constexpr bool on(stage_cuts const& cuts, std::string_view name, std::initializer_list<int> wanted,
                  std::int64_t block = 0) {
  for (redco::fact::parameter_fact const& fact : redco::shard::constant_facts_of<Model>.parameters)
    if (fact.name.view() == name) return fact.stages(cuts, block) == stage_set::of(wanted);
  throw std::out_of_range("no such parameter");
}

/// Returns true if block `first + i` of the repeat of `name` is on stage number `stages[i]`.
template <auto const& Model>
constexpr bool blocks_on(stage_cuts const& cuts, std::string_view name, std::initializer_list<int> stages,
                         std::int64_t first = 0) {
  for (int const stage : stages)
    if (!on<Model>(cuts, name, {stage}, first++)) return false;
  return true;
}

// GPT-2: the first stage has the embeddings, the last stage the final norm. Both have the tied
// table.
constexpr redco::gpt2 gpt2{{.vocab = 64, .context = 16, .width = 24, .heads = 2, .layers = 6}};
constexpr stage_cuts three = stage_cuts::of({1, 3, 2});
static_assert(on<gpt2>(three, "wte.weight", {0, 2}) && on<gpt2>(three, "wpe.weight", {0}));
static_assert(on<gpt2>(three, "ln_f.weight", {2}) && on<gpt2>(three, "ln_f.bias", {2}));
static_assert(blocks_on<gpt2>(three, "h.*.attn.q.weight", {0, 1, 1, 1, 2, 2}));
static_assert(redco::shard::constant_facts_of<gpt2>.parameters[0].stages(stage_cuts(), 0) == stage_set());

// LLaMA with a table of its own for the head, and with the embedding's.
constexpr redco::llama llama{
    {.vocab = 64, .context = 16, .width = 24, .ffn = 32, .heads = 2, .kv_heads = 1, .layers = 4}};
constexpr redco::llama tied{
    {.vocab = 64, .context = 16, .width = 24, .ffn = 32, .heads = 2, .kv_heads = 1, .layers = 4, .tied = true}};
constexpr stage_cuts two = stage_cuts::of({3, 1});
static_assert(on<llama>(two, "embed_tokens.weight", {0}) && on<llama>(two, "lm_head.weight", {1}));
static_assert(on<tied>(two, "embed_tokens.weight", {0, 1}) && on<tied>(two, "norm.weight", {1}));
static_assert(blocks_on<llama>(two, "layers.*.mlp.gate.weight", {0, 0, 0, 1}));

// T5: encoder blocks 0 to 2, decoder blocks 3 to 6. Three stages read the shared table. Each
// stack's biases by distance are on all stages of its blocks.
constexpr redco::t5 t5{
    {.vocab = 96, .width = 48, .ffn = 96, .heads = 4, .head_dim = 12, .layers = 3, .decoder_layers = 4}};
constexpr stage_cuts four = stage_cuts::of({2, 3, 1, 1});
static_assert(on<t5>(four, "encoder.embed_tokens.weight", {0, 1, 3}));
static_assert(on<t5>(four, "encoder.relative_attention_bias.weight", {0, 1}));
static_assert(on<t5>(four, "decoder.relative_attention_bias.weight", {1, 2, 3}));
static_assert(on<t5>(four, "encoder.final_layer_norm.weight", {1}) &&
              on<t5>(four, "decoder.final_layer_norm.weight", {3}));
static_assert(blocks_on<t5>(four, "encoder.block.*.SelfAttention.q.weight", {0, 0, 1}));
static_assert(blocks_on<t5>(four, "decoder.block.*.SelfAttention.q.weight", {1, 1, 2, 3}));
static_assert(redco::shard::facts_of<t5>().encoder_blocks == 3);
// A cut between encoder and decoder: the encoder's norm is on the stage of the first decoder block.
static_assert(on<t5>(stage_cuts::of({3, 4}), "encoder.final_layer_norm.weight", {1}));
static_assert(on<t5>(stage_cuts::of({3, 4}), "encoder.relative_attention_bias.weight", {0}));
static_assert(on<t5>(stage_cuts::of({3, 4}), "decoder.relative_attention_bias.weight", {1}));
constexpr redco::models::t5_gated t5_gated{
    {.vocab = 96, .width = 48, .ffn = 96, .heads = 4, .head_dim = 12, .layers = 3, .decoder_layers = 4}};
static_assert(on<t5_gated>(four, "encoder.embed_tokens.weight", {0, 1}) && on<t5_gated>(four, "lm_head.weight", {3}));

// BART: norms after the embeddings, and learned positions in both stacks.
constexpr redco::bart bart{{.vocab = 96,
                            .context = 16,
                            .width = 48,
                            .ffn = 96,
                            .decoder_ffn = 96,
                            .heads = 4,
                            .decoder_heads = 4,
                            .layers = 2,
                            .decoder_layers = 2}};
constexpr stage_cuts bart_cuts = stage_cuts::of({1, 2, 1});
static_assert(on<bart>(bart_cuts, "encoder.embed_tokens.weight", {0, 1, 2}));
static_assert(on<bart>(bart_cuts, "encoder.embed_positions.weight", {0}) &&
              on<bart>(bart_cuts, "decoder.embed_positions.weight", {1}));
static_assert(blocks_on<bart>(bart_cuts, "encoder.layers.*.fc1.weight", {0, 1}) &&
              blocks_on<bart>(bart_cuts, "decoder.layers.*.fc1.weight", {1, 2}));

constexpr redco::bert bert{{.vocab = 64, .context = 16, .width = 24, .ffn = 48, .heads = 2, .layers = 3}};
static_assert(on<bert>(stage_cuts::of({2, 1}), "embeddings.word_embeddings.weight", {0}) &&
              on<bert>(stage_cuts::of({2, 1}), "classifier.weight", {1}));

constexpr redco::vit vit{{.image = 8, .patch = 4, .width = 24, .ffn = 48, .heads = 2, .layers = 3, .classes = 5}};
static_assert(on<vit>(three, "classifier.weight", {1}) && on<vit>(stage_cuts::of({1, 2}), "layernorm.weight", {1}));
static_assert(blocks_on<vit>(stage_cuts::of({1, 2}), "layer.*.intermediate.weight", {0, 1, 1}));

constexpr redco::models::vision_encoder_decoder captions{
    {.encoder = {.image = 8, .patch = 4, .width = 24, .ffn = 48, .heads = 2, .layers = 2},
     .decoder = {.vocab = 64, .context = 16, .width = 24, .heads = 2, .layers = 3}}};
static_assert(on<captions>(stage_cuts::of({1, 2, 2}), "decoder.wte.weight", {1, 2}) &&
              on<captions>(stage_cuts::of({1, 2, 2}), "decoder.ln_f.weight", {2}));
static_assert(redco::shard::facts_of<captions>().encoder_blocks == 2);

// Blocks of alternating types have the indices of the whole stack.
constexpr redco::gpt_neo neo{{.vocab = 64, .context = 16, .width = 24, .heads = 2, .layers = 5}};
constexpr stage_cuts turns = stage_cuts::of({2, 3});
static_assert(on<neo>(turns, "h.0::2.mlp.up.weight", {0}, 0) && on<neo>(turns, "h.0::2.mlp.up.weight", {1}, 2) &&
              on<neo>(turns, "h.1::2.mlp.up.weight", {0}, 1) && on<neo>(turns, "h.1::2.mlp.up.weight", {1}, 3));

// Work of blocks: layers before a block count to the block, layers after the last block to the
// last.
using block = redco::residual<redco::linear<8, 8>>;
template <class... Layers>
using net = redco::sequential<redco::named<"in", redco::linear<4, 8>>, Layers...>;
constexpr redco::model_of<net<redco::named<"a", redco::repeat<2, block>>, redco::named<"mid", redco::linear<8, 8>>,
                              redco::named<"b", redco::repeat<2, block>>, redco::named<"out", redco::linear<8, 2>>>>
    chain{};
constexpr std::int64_t small = 2 * 4 * 8, middle = 2 * 8 * 8, last = 2 * 8 * 2;
static_assert(redco::shard::work_of_blocks(redco::shard::facts_of<chain>()) ==
              std::vector<std::int64_t>{small + middle, middle, 2 * middle, middle + last});
static_assert(redco::shard::most_stages(redco::shard::facts_of<chain>()) == 4);
static_assert(on<chain>(stage_cuts::of({2, 2}), "mid.weight", {1}) &&
              on<chain>(stage_cuts::of({3, 1}), "mid.weight", {0}));
static_assert(redco::plan_of<chain>({.pp = 2}).stages == stage_cuts::of({2, 2}));

// An opaque or other layer outside blocks may be cut; blocks inside a branch may not.
using stack = redco::named<"h", redco::repeat<3, block>>;
constexpr redco::model_of<net<redco::residual<stack>>> branch{};
constexpr redco::model_of<net<redco::sum<redco::named<"a", redco::linear<8, 8>>, stack>>> parallel{};
constexpr redco::model_of<net<redco::residual<redco::linear<8, 8>>, stack>> plain{};
constexpr redco::model_of<net<redco::named<"o", redco::repeat<2, redco::residual<stack>>>>> nested{};
static_assert(redco::shard::constant_facts_of<branch>.most_stages == 1);
static_assert(redco::shard::constant_facts_of<parallel>.most_stages == 1);
static_assert(redco::shard::constant_facts_of<plain>.most_stages == 3);
static_assert(redco::shard::constant_facts_of<nested>.most_stages == 2);
static_assert(redco::shard::facts_of<branch>().repeat_in_branch.view() == "h");
static_assert(redco::legal<t5, redco::mesh{.pp = 7}>{} && redco::legal<gpt2, redco::mesh{.pp = 6, .tp = 2}>{});

}  // namespace

int main() {}
