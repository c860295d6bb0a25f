// A family with split tokens has unchanged parameters under the unchanged plan. Its blocks begin
// and end with split tokens.
#include <redco/cost/cost_of.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/any_model.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <type_traits>
#include <variant>

using namespace redco;

template <class M>
inline constexpr M plain{};
template <class M>
inline constexpr redco::models::sequence_parallel<M> split_model{};

template <class M>
constexpr bool same_plan(int shards) {
  auto const a = plan_of<plain<M>>({.tp = shards}), b = plan_of<split_model<M>>({.tp = shards});
  for (std::size_t i = 0; i < a.entries.size(); ++i)
    if (a.entries[i].fact.name != b.entries[i].fact.name ||
        a.entries[i].fact.on(redco::shape::axis::tp).dim != b.entries[i].fact.on(redco::shape::axis::tp).dim ||
        a.entries[i].fact.why != b.entries[i].fact.why || a.entries[i].local() != b.entries[i].local())
      return false;
  return a.entries.size() == b.entries.size();
}
template <class M>
inline constexpr bool planned_alike = same_plan<M>(2);
template <class... M>
constexpr bool all_planned_alike(std::variant<M...> const*) {
  return (planned_alike<M> && ...);
}
static_assert(all_planned_alike(static_cast<redco::models::any_model const*>(nullptr)));
static_assert(same_plan<gpt2>(4) && same_plan<llama>(8) && same_plan<bart>(4) && same_plan<bert>(8));

// Names that are indices stay. A second row of blocks takes the tokens as the first one returns
// them.
using mlp = residual<sequential<linear<8, 12>, gelu, linear<12, 8>>>;
static_assert(
    same_plan<model_of<sequential<linear<8, 8>, repeat<2, mlp>, linear<8, 8>, named<"h", repeat<3, mlp>>>>>(2));

// Both sides of an encoder-decoder are split, and a classifier up to its first token.
template <class M>
constexpr std::int64_t scatters = redco::cost::cost_of<split_model<M>>(adamw{}, {.mesh = {.tp = 2}, .load = {2, 6}})
                                      .messages[cost::messages::forward_scatter]
                                      .calls;
static_assert(scatters<bart> == 12 * 2 + 12 * 3 && scatters<t5> == 24 * 2 + 24 * 3 && scatters<bert> == 24 * 2);
static_assert(redco::models::repeats_blocks<vit> && !redco::models::repeats_blocks<model_of<linear<8, 8>>>);
static_assert(input_of(split_model<vit>, {3, 1}) == redco::models::input_of(plain<vit>, {3, 1}));

// Blocks of GPT-2 between split tokens: the layout at the input is the layout at the output.
static_assert(std::is_same_v<redco::layers::out_t<gpt2::block, redco::shape::token_split>, redco::shape::token_split>);
static_assert(std::is_same_v<redco::layers::out_t<gpt2::block, redco::shape::replicated>, redco::shape::replicated>);
static_assert(
    std::is_same_v<redco::layers::out_t<layer_norm<8>, redco::shape::token_split>, redco::shape::token_split>);
static_assert(std::is_same_v<redco::layers::out_t<redco::layers::replicated_linear<8, 8>, redco::shape::token_split>,
                             redco::shape::token_split>);
static_assert(std::is_same_v<redco::layers::out_t<linear<8, 8>, redco::shape::token_split>, redco::shape::split<-1>>);

// An all-reduce becomes a reduce-scatter and an all-gather: the bytes in the blocks are equal, over
// two calls. A sequence of 6 tokens is padded to 8 on 4 shards.
constexpr redco::cost::setup on_four{.mesh = {.tp = 4}, .load = {2, 6}};
constexpr redco::cost::rank_cost whole = cost_of<plain<gpt2>>(adamw{}, on_four),
                                 runs = cost_of<split_model<gpt2>>(adamw{}, on_four);
static_assert(whole.messages[cost::messages::forward].calls == 2 * 12 + 1);
static_assert(runs.messages[cost::messages::forward].calls == 1);                  // the embedding
static_assert(runs.messages[cost::messages::forward_gather].calls == 2 * 12 + 1);  // and the head's
static_assert(runs.messages[cost::messages::forward_scatter].calls == 2 * 12);
static_assert(runs.messages[cost::messages::forward_scatter].payload_bytes == 2 * 12 * 2 * 8 * 768 * 4);
// One call is for the embedding's gradient
static_assert(runs.messages[cost::messages::backward_gather].calls == 2 * 12 + 1);
static_assert(runs.messages[cost::messages::backward_scatter].calls == 2 * 12 + 1);
static_assert(runs.messages[cost::messages::backward].calls ==
              12 * (2 * 2 + 2) + 2);  // of norms and of biases after a sum
static_assert(runs.memory.activations < whole.memory.activations && runs.memory.parameters == whole.memory.parameters);
static_assert(runs.operations == whole.operations);
