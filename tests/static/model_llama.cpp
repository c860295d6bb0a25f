// LLaMA, Mistral, Qwen, SmolLM3, Phi-3, OLMo 2 and GPT-NeoX: number of parameters of the public
// models, splits and their reasons, legal widths, messages of a block.
#include "model_facts.hpp"

#include <redco/cost/simulation.hpp>
#include <redco/shard/legal.hpp>
#include <redco/model/gpt_neox.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/olmo2.hpp>

namespace {

using namespace model_facts;
using redco::extents;
using redco::fact::reason;

constexpr redco::llama llama_7b{};
constexpr redco::llama llama3_8b{
    {.vocab = 128256, .context = 8192, .ffn = 14336, .kv_heads = 8, .norm_epsilon = 1e-5, .theta = 500000}};
constexpr redco::llama llama_1b{
    {.vocab = 128256, .width = 2048, .ffn = 8192, .kv_heads = 8, .head_dim = 64, .layers = 16, .tied = true}};
constexpr redco::llama mistral_7b{redco::models::mistral_7b};
constexpr redco::llama qwen2_7b{redco::models::qwen2_7b};
constexpr redco::llama qwen2_half_b{{.vocab = 151936,
                                     .width = 896,
                                     .ffn = 4864,
                                     .heads = 14,
                                     .kv_heads = 2,
                                     .layers = 24,
                                     .tied = true,
                                     .qkv_bias = true}};
constexpr redco::llama qwen3_8b{redco::models::qwen3_8b};
constexpr redco::llama qwen3_half_b{{.vocab = 151936,
                                     .width = 1024,
                                     .ffn = 3072,
                                     .heads = 16,
                                     .kv_heads = 8,
                                     .head_dim = 128,
                                     .layers = 28,
                                     .tied = true,
                                     .query_key_norm = true}};

static_assert(numbers<llama_7b>() == 6'738'415'616);
static_assert(numbers<llama3_8b>() == 8'030'261'248);
static_assert(numbers<llama_1b>() == 1'235'814'400);
static_assert(numbers<mistral_7b>() == 7'241'732'096);
static_assert(numbers<qwen2_7b>() == 7'615'616'512);
static_assert(numbers<qwen2_half_b>() == 494'032'768);
static_assert(numbers<qwen3_8b>() == 8'190'735'360);
static_assert(numbers<qwen3_half_b>() == 596'049'920);
constexpr redco::llama smollm3_3b{redco::models::smollm3_3b};
constexpr redco::llama phi3_mini{
    {.vocab = 32064, .context = 4096, .width = 3072, .ffn = 8192, .norm_epsilon = 1e-5, .fused_in_files = true}};
constexpr redco::models::olmo2 olmo2_1b{redco::models::olmo2_1b};
constexpr redco::models::gpt_neox pythia_160m{redco::models::pythia_160m};
static_assert(numbers<smollm3_3b>() == 3'075'098'624);
static_assert(numbers<phi3_mini>() == 3'821'079'552);
static_assert(numbers<olmo2_1b>() == 1'484'916'736);
static_assert(numbers<pythia_160m>() == 162'322'944);

// SmolLM3 does not rotate every fourth of its 36 blocks.
static_assert(redco::llama::attention::scores(smollm3_3b.config).unrotated.has(35) &&
              !redco::llama::attention::scores(smollm3_3b.config).unrotated.has(34));

// Pythia's attention and feed-forward read one input, so a block reduces their sum once; without
// parallel residual connections it reduces twice.
constexpr redco::models::gpt_neox one_by_one{{.parallel = false}};
static_assert(reductions<pythia_160m>("layers.*", false, 12) == 1 &&
              reductions<one_by_one>("layers.*", false, 44) == 2);

// OLMo 2 normalises queries and keys over all heads: the weights are split by heads, and two more
// messages of a block sum the squares, forward and backward.
static_assert(part<olmo2_1b>("layers.*.self_attn.q_norm.weight", 4, reason::norm) == extents{512});
static_assert(reductions<olmo2_1b>("layers.*", false, 16) == 2 && reductions<olmo2_1b>("layers.*", true, 16) == 2);
constexpr std::int64_t sums_of_squares(bool backward) {
  std::int64_t calls = 0;
  for (redco::fact::message_fact const& m : messages<olmo2_1b>)
    if (m.kind == redco::fact::width_kind::accumulate && m.backward == backward &&
        m.layer.view().starts_with("layers.*.self_attn."))
      calls += m.copies;
  return calls;
}
static_assert(sums_of_squares(false) == 16 * 2 && sums_of_squares(true) == 16 * 2);

// A tied table is stated once, and the head has no weight of its own.
static_assert(count<llama_1b>("embed_tokens.weight") == 1 && count<llama_1b>("lm_head.weight") == 0);
static_assert(count<llama_7b>("lm_head.weight") == 1);

// LLaMA has no biases; Qwen2 has biases on q, k and v.
static_assert(count<llama_7b>("layers.*.self_attn.q.bias") == 0);
static_assert(count<qwen2_7b>("layers.*.self_attn.q.bias") == 1 && count<qwen2_7b>("layers.*.self_attn.o.bias") == 0);
constexpr redco::llama biased{{.attention_bias = true}};
static_assert(count<biased>("layers.*.self_attn.v.bias") == 1 && count<biased>("layers.*.self_attn.o.bias") == 1);

// All heads share the weights of their norms, which every rank holds. Their gradients are summed in
// one message of a block.
static_assert(part<qwen3_8b>("layers.*.self_attn.q_norm.weight", 4, reason::norm) == extents{128});
static_assert(count<qwen3_8b>("layers.*.self_attn.k_norm.weight") == 1 &&
              count<llama_7b>("layers.*.self_attn.k_norm.weight") == 0);
static_assert(reductions<qwen3_8b>("layers.*", true, 36) == 1 + reductions<mistral_7b>("layers.*", true, 32));
static_assert(reductions<qwen3_8b>("layers.*", false, 36) == 2);

// Column-parallel, then row-parallel: one rule for the whole model type.
static_assert(part<llama_7b>("layers.*.self_attn.q.weight", 2, reason::heads) == extents{2048, 4096});
static_assert(part<llama_7b>("layers.*.self_attn.k.weight", 4, reason::heads) == extents{1024, 4096});
static_assert(part<llama_7b>("layers.*.self_attn.o.weight", 4, reason::row) == extents{4096, 1024});
static_assert(part<llama_7b>("layers.*.mlp.gate.weight", 2, reason::column) == extents{5504, 4096});
static_assert(part<llama_7b>("layers.*.mlp.up.weight", 4, reason::column) == extents{2752, 4096});
static_assert(part<llama_7b>("layers.*.mlp.down.weight", 4, reason::row) == extents{4096, 2752});
static_assert(part<llama_7b>("layers.*.input_layernorm.weight", 4, reason::norm) == extents{4096});
static_assert(part<llama_7b>("lm_head.weight", 4, reason::vocabulary) == extents{8000, 4096});
static_assert(part<qwen2_7b>("layers.*.self_attn.k.bias", 4, reason::column_bias) == extents{128});

// With fewer key-value heads than shards, neighbours share one.
static_assert(part<llama3_8b>("layers.*.self_attn.k.weight", 16, reason::key_value_heads) == extents{128, 4096});
static_assert(at<llama3_8b>("layers.*.self_attn.v.weight", 16).sharers(redco::shape::axis::tp) == 2 &&
              at<llama3_8b>("layers.*.self_attn.v.weight", 8).sharers(redco::shape::axis::tp) == 1);
static_assert(at<mistral_7b>("layers.*.self_attn.k.weight", 32).sharers(redco::shape::axis::tp) == 4);

// An odd vocabulary is padded on the last shard.
constexpr redco::llama odd{{.vocab = 32001}};
static_assert(at<odd>("embed_tokens.weight", 4).local() == extents{8001, 4096});
static_assert(at<odd>("embed_tokens.weight", 4).logical(3) == extents{7998, 4096});

// Widths with whole heads and equal columns: 32 heads and 11008 = 256 * 43 columns; 28 heads, 4
// key-value heads and 18944 = 512 * 37.
static_assert(legal_widths<llama_7b>({1, 2, 4, 8, 16, 32}));
static_assert(legal_widths<llama3_8b>({1, 2, 4, 8, 16, 32}));
static_assert(legal_widths<mistral_7b>({1, 2, 4, 8, 16, 32}));
static_assert(legal_widths<qwen2_7b>({1, 2, 4}));
static_assert(redco::legal<llama_7b, redco::mesh{.dp = 1, .tp = 4}>{});

// Two all-reduces in a block, forward and backward; one for the embedding, one for the head's
// gradient.
static_assert(reductions<llama_7b>("layers.*", false, 32) == 2 && reductions<llama_7b>("layers.*", true, 32) == 2);
static_assert(reductions<llama_7b>("", false) == 2 * 32 + 1 && reductions<llama_7b>("", true) == 2 * 32 + 1);

// Options of the scores.
constexpr auto turned = redco::llama::attention::scores(llama3_8b.config);
static_assert(turned.rotary.dims == 128 && turned.rotary.theta == 500000 &&
              turned.rotary.pairs == redco::layers::rotary_pairs::halves);
static_assert(turned.rotary.scaling.factor == 1 && turned.window == 0);
static_assert(turned.scale * turned.scale * 128 > 0.999999 && turned.scale * turned.scale * 128 < 1.000001);
static_assert(redco::llama::attention::scores(mistral_7b.config).window == 4096);

// A query's scores and its weighted sum are products with the keys of its window: 4096 of 16384.
constexpr std::int64_t forward_of(std::int64_t sequence) {
  return redco::cost::simulation(redco::shard::facts_of<mistral_7b>({1, sequence}), {}).work().all;
}
constexpr std::int64_t without_attention(std::int64_t sequence, std::int64_t keys) {
  return forward_of(sequence) - 32 * 2 * 2 * sequence * keys * 4096;
}
static_assert(without_attention(16384, 4096) == 16384 * without_attention(1, 1));
static_assert(without_attention(4096, 4096) == 4096 * without_attention(1, 1));
static_assert(without_attention(1000, 1000) == 1000 * without_attention(1, 1));
static_assert(redco::llama::attention::scores(qwen2_7b.config).rotary.theta == 1e6);
constexpr redco::models::llama_config stretched{
    .scaling = {.kind = redco::layers::rotary_kind::llama3, .factor = 8, .context = 64}};
static_assert(redco::llama::attention::scores(stretched).rotary.scaling.factor == 8);

}  // namespace

int main() {}
