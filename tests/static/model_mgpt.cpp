// mGPT: GPT-2's parameters, and the products of live blocks in sparse blocks of the stack; sinks
// are split by heads; patterns whose numbers do not fit are refused.
#include "model_facts.hpp"

#include <redco/cost/operations.hpp>
#include <redco/cost/simulation.hpp>
#include <redco/shard/legal.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/mgpt.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/sparse_traits.hpp>

namespace {

using namespace model_facts;
using redco::causal_attention;
using redco::extents;
using redco::fact::reason;
using redco::layers::block_pattern;
using redco::layers::sparse_causal;
using redco::models::mgpt;

constexpr redco::gpt2 dense{{.context = 4096, .layers = 4}};
constexpr mgpt sparse{{dense.config}};
static_assert(numbers<sparse>() == numbers<dense>());
static_assert(legal_widths<sparse>({1, 2, 3, 4, 6, 12}));

/// Returns the operations of a forward pass over three examples of `tokens` tokens.
template <auto const& Model>
constexpr std::int64_t operations(std::int64_t tokens) {
  redco::fact::program const p = redco::shard::facts_of<Model>({.batch = 3, .sequence = tokens});
  redco::cost::setup const s{.load = {3, tokens}};
  return redco::cost::simulation(p, s).work().all;
}

/// Returns the operations that two sparse blocks of the stack save. Each of 12 heads has `live`
/// blocks of 16 x 16 scores instead of all pairs of tokens.
constexpr std::int64_t saved(std::int64_t tokens, std::int64_t live) {
  return 3 * 2 * 12 * 2 * 2 * 64 * (tokens * tokens - live * 256);
}
// 0.3636, 0.2462, 0.1860 and 0.1556 of the blocks under the diagonal
static_assert(operations<dense>(512) - operations<sparse>(512) == saved(512, 192));
static_assert(operations<dense>(1024) - operations<sparse>(1024) == saved(1024, 512));
static_assert(operations<dense>(2048) - operations<sparse>(2048) == saved(2048, 1536));
static_assert(operations<dense>(4096) - operations<sparse>(4096) == saved(4096, 5120));

// The pattern of each block of the stack: block 0 is sparse and block 1 is dense.
using attention = causal_attention<96, 6, sparse_causal<16, 8, 1, 8, redco::layers::every_block(2)>>;
static_assert(attention::scores(0).of_block(0).pattern == block_pattern{16, 8, 1, 8});
static_assert(!attention::scores(0).of_block(1).pattern.is_sparse() &&
              attention::scores(0).of_block(200).pattern.is_sparse() &&
              attention::scores(0).of_block(-1).pattern.is_sparse());
using band = causal_attention<96, 6, redco::layers::sliding_band<16, 3>>;
static_assert(band::scores(0).pattern.near_begin(7) == 5 && band::scores(0).pattern.near_begin(1) == 0 &&
              band::scores(0).pattern.live_blocks(4, 10) == 1 + 2 + 8 * 3);

// A block of 0 tokens is no pattern.
constexpr mgpt off{{dense.config, 0}};
static_assert(operations<off>(512) == operations<dense>(512));

template <class... Traits>
using layer = redco::model_of<redco::residual<causal_attention<64, 4, Traits...>>, redco::input<32, 64>>;
constexpr layer<redco::layers::attention_sinks<>> sunk{};
static_assert(part<sunk>("sinks", 2, reason::heads) == extents{2} && !at<sunk>("sinks", 1).fact.decay);

template <auto const& Model>
constexpr redco::fact::mistake_fact mistake = redco::shard::facts_of<Model>({.batch = 2, .sequence = 32}).mistake;
constexpr layer<sparse_causal<4, 8, 1, 3>> no_multiple{};
constexpr layer<sparse_causal<4, 0>> no_window{};
constexpr layer<sparse_causal<-4, 8>> no_tokens{};
constexpr layer<sparse_causal<4, 8, 2, 4>> fits{};
static_assert(mistake<no_multiple>.kind == redco::fact::mistake::divisor && mistake<no_multiple>.wanted == 3);
static_assert(mistake<no_window>.kind == redco::fact::mistake::size);
static_assert(mistake<no_tokens>.kind == redco::fact::mistake::size && mistake<no_tokens>.found == -4);
static_assert(mistake<fits>.kind == redco::fact::mistake::none);

}  // namespace

int main() {}
