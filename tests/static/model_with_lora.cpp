// Plans and costs of a frozen model with adapters: the matrix of an adapter that is split, counts
// of parameters, legal memory.
#include <redco/cost/cost_of.hpp>
#include <redco/cost/fits.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/bytes.hpp>
#include <redco/adapt/plan/with_lora.hpp>

#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace {

using namespace redco;

constexpr llama plain{{.vocab = 256, .context = 64, .width = 96, .ffn = 120, .heads = 6, .kv_heads = 2, .layers = 3}};
constexpr with_lora<llama> tuned{{plain.config, {.rank = 4, .alpha = 8, .targets = "q,v,o,mlp.gate,down"}}};

template <auto const& Model>
constexpr shard::entry at(std::string_view name, int shards) {
  auto const p = plan_of<Model>({.tp = shards});
  for (shard::entry const& e : p.entries)
    if (e.fact.name.view() == name) return e;
  throw std::out_of_range("no such parameter");
}

template <auto const& Model>
constexpr extents local(std::string_view name, int shards) {
  return at<Model>(name, shards).local();
}

// If a weight is split along its outputs, so is B of its adapter, in attention by whole heads. If
// it is split along its inputs, so is A.
static_assert(local<tuned>("layers.*.self_attn.q.lora_A.weight", 2) == extents{4, 96});
static_assert(local<tuned>("layers.*.self_attn.q.lora_B.weight", 2) == extents{48, 4});
static_assert(local<tuned>("layers.*.self_attn.v.lora_B.weight", 2) == extents{16, 4});
static_assert(local<tuned>("layers.*.self_attn.o.lora_A.weight", 2) == extents{4, 48});
static_assert(local<tuned>("layers.*.self_attn.o.lora_B.weight", 2) == extents{96, 4});
static_assert(local<tuned>("layers.*.mlp.gate.lora_B.weight", 2) == extents{60, 4});
static_assert(local<tuned>("layers.*.mlp.down.lora_A.weight", 2) == extents{4, 60});
static_assert(at<tuned>("layers.*.mlp.down.lora_A.weight", 2).fact.why == fact::reason::adapter &&
              at<tuned>("layers.*.mlp.down.lora_B.weight", 2).fact.why == fact::reason::adapter_whole);
// If neighbours share key-value heads, they share the heads' adapters too.
static_assert(local<tuned>("layers.*.self_attn.v.lora_B.weight", 6) == extents{16, 4} &&
              at<tuned>("layers.*.self_attn.v.lora_B.weight", 6).sharers(redco::shape::axis::tp) == 3);

// Queries, keys and values have one common A.
constexpr with_lora<gpt2> fused{{gpt2{}.config, {.rank = 8, .targets = "qkv"}}};
static_assert(local<fused>("h.*.attn.qkv.lora_A.weight", 2) == extents{8, 768} &&
              local<fused>("h.*.attn.k.lora_B.weight", 2) == extents{384, 8});

/// Returns the number of trained parameters of a model, or of frozen ones.
template <auto const& Model>
constexpr std::int64_t numbers(bool trained) {
  std::int64_t sum = 0;
  for (fact::parameter_fact const& f : redco::shard::constant_facts_of<Model>.parameters)
    if (f.trained == trained) sum += f.shape.count() * f.copies();
  return sum;
}
static_assert(numbers<tuned>(true) == 3 * 4 * ((96 + 96) + (96 + 32) + (96 + 96) + (96 + 120) + (120 + 96)));
static_assert(numbers<tuned>(false) == numbers<plain>(true) && numbers<plain>(false) == 0);
static_assert(numbers<fused>(true) == 12 * 8 * (768 + 3 * 768) && numbers<fused>(false) == 124439808);

// Gradients and the optimizer's state count the adapters only; bytes of parameters count
// everything.
constexpr redco::cost::setup run{.mesh = {.tp = 2}, .load = {2, 16}};
constexpr cost::memory plain_bytes = cost_of<plain>(adamw{}, run).memory,
                       tuned_bytes = cost_of<tuned>(adamw{}, run).memory;
constexpr std::int64_t of_rank = 3 * 4 * ((96 + 48) + (96 + 16) + (48 + 96) + (96 + 60) + (60 + 96));
static_assert(tuned_bytes.gradients == 4 * of_rank && tuned_bytes.optimizer == 2 * 4 * of_rank);
static_assert(tuned_bytes.parameters == plain_bytes.parameters + 4 * of_rank);

// A frozen model fits where it cannot be trained as a whole.
constexpr with_lora<llama> large{{llama{}.config, {.rank = 16}}};
constexpr llama large_plain{};
constexpr workload load{.batch = 1, .sequence = 512};
static_assert(fits<large, adamw{}, mesh{.tp = 2}, load, GiB(24), dtype::bf16>{});
static_assert(redco::cost::cost_of<large_plain>(adamw{}, {.mesh = {.tp = 2}, .load = load, .compute = dtype::bf16})
                  .memory.peak() > GiB(48));

// Messages of a step, compared with those of the model without adapters: gradients of the matrices
// that all shards hold. The first block's attention has no gradient of its input to sum.
constexpr auto plain_sent = cost_of<plain>(adamw{}, run).messages, tuned_sent = cost_of<tuned>(adamw{}, run).messages;
static_assert(tuned_sent[cost::messages::forward].calls == plain_sent[cost::messages::forward].calls);
static_assert(tuned_sent[cost::messages::backward].calls == plain_sent[cost::messages::backward].calls + 3 * 5 - 1);

/// The model with adapters for other weights.
constexpr with_lora<llama> tuned_for(std::string_view targets) {
  with_lora<llama> model = tuned;
  model.config.lora.targets = targets;
  return model;
}
constexpr with_lora<llama> values = tuned_for("v"), after = tuned_for("o"), gate = tuned_for("mlp.gate"),
                           down = tuned_for("down"), queries = tuned_for("q,o");

template <auto const& Model>
constexpr std::int64_t backward_calls(bool recompute = false) {
  redco::cost::setup with = run;
  with.recompute = recompute;
  return cost_of<Model>(adamw{}, with).messages[cost::messages::backward].calls;
}

// Each block sums the gradients of two inputs and of an adapter's matrix, and the head that of its
// input. Inputs before the first adapter have no gradient: one with an adapter in the attention,
// two with one in the MLP.
static_assert(backward_calls<values>() == 1 + 3 * (2 + 1) - 1 && backward_calls<after>() == 1 + 3 * (2 + 1) - 1);
static_assert(backward_calls<gate>() == 1 + 3 * (2 + 1) - 2 && backward_calls<down>() == 1 + 3 * (2 + 1) - 2);
static_assert(backward_calls<down>(true) == backward_calls<down>());

// With six shards, three neighbours share a key-value head. They sum gradients of the head's
// weights only if these are trained.
constexpr redco::cost::setup six{.mesh = {.tp = 6}, .load = {2, 16}};
template <auto const& Model>
constexpr std::int64_t shared_calls = cost_of<Model>(adamw{}, six).messages[cost::messages::shared_gradients].calls;
static_assert(shared_calls<plain> == 3 && shared_calls<queries> == 0 && shared_calls<values> == 3);

/// Returns the number of moments of a model's backward that hold gradients of shared heads.
template <auto const& Model>
constexpr std::int64_t shared_moments() {
  std::int64_t sum = 0;
  for (fact::event const& e : redco::shard::facts_of<Model>({2, 16}).events) sum += e.slot == "shared_gradients";
  return sum;
}
static_assert(shared_moments<plain>() == 1 && shared_moments<queries>() == 0 && shared_moments<values>() == 1);

// A rewrite of the tree applies inside with_lora, and adapters work with split tokens too.
constexpr redco::models::sequence_parallel<with_lora<llama>> tokens_split{tuned.config};
static_assert(numbers<tokens_split>(true) == numbers<tuned>(true));
// Each rank has its own tokens. Norms would sum gradients, but they are frozen, and the matrices of
// adapters that all shards hold are trained.
static_assert(cost_of<tokens_split>(adamw{}, run).messages[cost::messages::backward].calls == 3 * 5);

// A target matches the end of a path in whole components.
static_assert(tuned.config.lora.adapts("layers.*.mlp.gate") && tuned.config.lora.adapts("layers.*.self_attn.o"));
static_assert(!tuned.config.lora.adapts("layers.*.self_attn.k") && !tuned.config.lora.adapts("layers.*.gate"));
static_assert(!tuned.config.lora.adapts("layers.*.mlp.updown"));

}  // namespace
