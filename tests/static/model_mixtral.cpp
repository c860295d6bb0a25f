// Mixtral and Qwen3-MoE: number of parameters of the public models, splits, legal meshes.
#include "model_facts.hpp"

#include <redco/shard/legal.hpp>
#include <redco/model/mixtral.hpp>
#include <redco/adapt/plan/with_lora.hpp>

#include <cstdint>
#include <string_view>

namespace {

using namespace model_facts;
using redco::extents;
using redco::fact::reason;

constexpr redco::models::mixtral mixtral_8x7b{};
constexpr redco::models::mixtral qwen3_30b_a3b{redco::models::qwen3_30b_a3b};

static_assert(numbers<mixtral_8x7b>() == 46'702'792'704);
static_assert(numbers<qwen3_30b_a3b>() == 30'532'122'624);
static_assert(count<mixtral_8x7b>("layers.*.self_attn.q_norm.weight") == 0 &&
              count<qwen3_30b_a3b>("layers.*.self_attn.q_norm.weight") == 1);
static_assert(part<mixtral_8x7b>("layers.*.mlp.experts.up", 2, reason::expert) == extents{8, 7168, 4096});
static_assert(part<mixtral_8x7b>("layers.*.mlp.experts.down", 2, reason::expert) == extents{8, 4096, 7168});
// The loss of transformers is not divided by the chosen experts, as routing::auxiliary_loss is.
using decoder =
    redco::models::detail::expert_decoder<redco::models::mixtral_config, &redco::models::mixtral::coefficient>;
static_assert(decoder::mlp::sizes(redco::models::mixtral_config{.experts_per_token = 3, .balance = 0.5})
                  .routing.coefficient == 1.5);
static_assert(decoder::mlp::sizes(redco::models::mixtral_config{.experts_per_token = 3}).routing.coefficient == 0);
static_assert(redco::legal<qwen3_30b_a3b, redco::mesh{.dp = 2, .ep = 16, .tp = 4}>{});

// Adapters of experts: whole experts along ep, and along tp the half whose dimension the weight
// splits.
constexpr redco::with_lora<redco::models::mixtral> tuned{
    {{.width = 64, .ffn = 24, .heads = 4, .kv_heads = 2, .layers = 2, .experts = 6},
     {.rank = 3, .targets = "experts.gate,experts.up,experts.down"}}};

constexpr redco::shard::entry tuned_entry(std::string_view name) {
  auto const plan = redco::plan_of<tuned>({.ep = 2, .tp = 2});
  for (redco::shard::entry const& e : plan.entries)
    if (e.fact.name.view() == name) return e;
  return {};
}
static_assert(tuned_entry("layers.*.mlp.experts.gate.lora_A.weight").local() == extents{3, 3, 64});
static_assert(tuned_entry("layers.*.mlp.experts.up.lora_B.weight").local() == extents{3, 12, 3});
static_assert(tuned_entry("layers.*.mlp.experts.down.lora_A.weight").local() == extents{3, 3, 12});
static_assert(tuned_entry("layers.*.mlp.experts.down.lora_B.weight").local() == extents{3, 64, 3});
static_assert(tuned_entry("layers.*.mlp.experts.down.lora_B.weight").fact.trained &&
              !tuned_entry("layers.*.mlp.experts.down").fact.trained &&
              !tuned_entry("layers.*.mlp.gate.weight").fact.trained);

}  // namespace
