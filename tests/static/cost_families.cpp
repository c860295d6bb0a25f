// Costs of public models: the rows of RedCoast's table of servers (arXiv 2310.16355, table 1), and
// one block of each kind of decoder, computed by hand.
#include <redco/cost/fits.hpp>
#include <redco/shard/legal.hpp>
#include <redco/model/bart.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/gptj.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/opt.hpp>
#include <redco/model/t5.hpp>
#include <redco/optimizer/optimizers.hpp>

namespace {

using redco::fits;
using redco::cost::messages;

constexpr redco::bart bart_large{};
constexpr redco::gpt2 gpt2_large{{.width = 1280, .heads = 20, .layers = 36}};
constexpr redco::llama llama_7b{};
constexpr redco::gptj gptj_6b{};
constexpr redco::t5 t5_11b{};
constexpr redco::opt opt_13b{{.width = 5120, .ffn = 20480, .heads = 40, .layers = 40}};
constexpr redco::opt opt_66b{{.width = 9216, .ffn = 36864, .heads = 72, .layers = 64}};

// f32 and AdamW, one example at a time. The last argument is the memory of a device.
constexpr std::int64_t gigabyte = 1'000'000'000;
constexpr redco::adamw adamw{};
static_assert(fits<bart_large, adamw, redco::mesh{.tp = 2}, redco::workload{1, 1024}, 10 * gigabyte>{});
static_assert(fits<gpt2_large, adamw, redco::mesh{.tp = 2}, redco::workload{1, 512}, 10 * gigabyte>{});
static_assert(fits<llama_7b, adamw, redco::mesh{.tp = 4}, redco::workload{1, 1024}, 40 * gigabyte>{});
static_assert(fits<gptj_6b, adamw, redco::mesh{.tp = 4}, redco::workload{1, 1024}, 40 * gigabyte>{});
static_assert(fits<t5_11b, adamw, redco::mesh{.tp = 8}, redco::workload{1, 512}, 32 * gigabyte>{});
static_assert(fits<opt_13b, adamw, redco::mesh{.tp = 8}, redco::workload{1, 1024}, 32 * gigabyte>{});

// OPT-66B on 64 devices: 64 does not divide its 72 heads, and eight shards hold too much each.
constexpr auto const& wide = redco::shard::constant_facts_of<opt_66b>.parameters;
static_assert(redco::shard::first_illegal(wide, {.tp = 64}) < wide.size() &&
              redco::shard::first_illegal(wide, {.tp = 8}) == wide.size());
static_assert(redco::shard::legality_of(wide[redco::shard::first_illegal(wide, {.tp = 64})], {.tp = 64}) ==
              redco::shard::legality::heads);
static_assert(redco::cost::cost_of<opt_66b>(adamw, {.mesh = {.dp = 8, .tp = 8}, .load = {1, 512}}).memory.persistent() >
              4 * 32 * gigabyte);

// For each token and block LLaMA saves the input and the result of two norms, q, k, v, and the
// attention's result. It also saves gate, up, their product, log-sum-exp per head and a statistic
// of each norm. At the end it saves the inputs of another norm and of the head.
constexpr std::int64_t tokens = 2 * 64, d = 4096, f = 11008;
constexpr auto llama = redco::cost::cost_of<llama_7b>(adamw, {.load = {2, 64}}).memory;
static_assert(llama.parameters == 4 * 6'738'415'616 && llama.optimizer == 2 * llama.parameters);
static_assert(llama.activations == 4 * tokens * (32 * (8 * d + 3 * f + 32 + 2) + 2 * d + 1));

// GPT-J has one norm in a block, whose result both branches save. Saved are the norm's input and
// result, q, k, v, the attention's result, the MLP before and after GELU, log-sum-exp and two
// statistics.
constexpr auto gptj = redco::cost::cost_of<gptj_6b>(adamw, {.load = {2, 64}}).memory;
static_assert(gptj.activations == 4 * tokens * (28 * (6 * d + 8 * d + 16 + 2) + 2 * d + 2));

// One all-reduce of a block's activations, compared with two in LLaMA.
constexpr auto two = redco::cost::cost_of<gptj_6b>(adamw, {.mesh = {.tp = 2}, .load = {2, 64}}).messages;
static_assert(two[messages::forward].calls == 29 && two[messages::backward].calls == 29);
static_assert(two[messages::forward].payload_bytes == 29 * 4 * tokens * d);
static_assert(
    redco::cost::cost_of<llama_7b>(adamw, {.mesh = {.tp = 2}, .load = {2, 64}}).messages[messages::forward].calls ==
    65);

}  // namespace

int main() {}
