// Gemma 2 and 3: number of parameters of the public models, splits, messages; windows and rotary
// angles of each block, and products of the keys that blocks with a window see.
#include "model_facts.hpp"

#include <redco/cost/operations.hpp>
#include <redco/cost/simulation.hpp>
#include <redco/model/gemma.hpp>

namespace {

using namespace model_facts;
using redco::extents;
using redco::fact::reason;
using redco::models::gemma;

constexpr gemma gemma2_2b{}, gemma3_1b{redco::models::gemma3_1b};
constexpr std::int64_t d = 2304;
static_assert(numbers<gemma2_2b>() == 26 * (2 * (8 + 4) * 256 * d + 3 * 9216 * d + 4 * d) + 256000 * d + d);
static_assert(numbers<gemma2_2b>() == 2'614'341'888);
static_assert(numbers<gemma3_1b>() == 999'885'952);
static_assert(part<gemma2_2b>("layers.*.self_attn.q.weight", 2, reason::heads) == extents{1024, 2304});
static_assert(part<gemma2_2b>("layers.*.self_attn.k.weight", 8, reason::key_value_heads) == extents{256, 2304});
static_assert(part<gemma3_1b>("layers.*.self_attn.q_norm.weight", 4, reason::norm) == extents{256});
static_assert(count<gemma2_2b>("layers.*.self_attn.q_norm.weight") == 0 && count<gemma2_2b>("lm_head.weight") == 0);
static_assert(legal_widths<gemma2_2b>({1, 2, 4, 8}) && legal_widths<gemma3_1b>({1, 2, 4}));
// The third one of backward sums gradients of key-value heads that several ranks share.
static_assert(reductions<gemma2_2b>("layers.*", false, 26) == 2 && reductions<gemma2_2b>("layers.*", true, 26) == 3);

// Factors are 1 + weight.
static_assert(at<gemma3_1b>("layers.*.post_feedforward_layernorm.weight", 1).fact.start.draw ==
              redco::fact::initial::kind::zeros);
static_assert(at<gemma3_1b>("layers.*.self_attn.k_norm.weight", 1).fact.start.draw ==
              redco::fact::initial::kind::zeros);
static_assert(gemma2_2b.config.embedding_factor() == 48);
constexpr redco::models::gemma_config gemma2_27b{.width = 4608, .query_scalar = 144};
static_assert(gemma2_27b.score_factor() == 1.0 / 12);

// Block 0 has a window and block 1 has none; in Gemma 3, the first block without a window is block
// 5.
constexpr auto in2 = gemma::attention::scores(gemma2_2b.config), in3 = gemma::attention::scores(gemma3_1b.config);
static_assert(in2.scale == 1.0 / 16 && in2.soft_cap == 50 && in3.soft_cap == 0);
static_assert(in2.of_block(0).window == 4096 && in2.of_block(1).window == 0 && in2.of_block(2).window == 4096);
static_assert(in3.of_block(4).window == 512 && in3.of_block(5).window == 0 && in3.of_block(6).window == 512);
static_assert(in3.of_block(4).rotary.theta == 10000 && in3.of_block(5).rotary.theta == 1000000);
static_assert(in3.of_block(5).rotary.dims == 256 && in3.of_block(-1).window == 512);

/// Returns the operations of a forward pass over one example of 1024 tokens.
template <auto const& Model>
constexpr std::int64_t operations() {
  redco::fact::program const p = redco::shard::facts_of<Model>({.batch = 1, .sequence = 1024});
  redco::cost::setup const s{.load = {1, 1024}};
  return redco::cost::simulation(p, s).work().all;
}
// Three of four blocks have a window of 256 keys. They lack 768 keys for each query, in scores and
// in sums of values.
constexpr gemma four{{.heads = 1,
                      .kv_heads = 1,
                      .head_dim = 8,
                      .layers = 4,
                      .window = 256,
                      .full_blocks = redco::models::every_block(3)}},
    without{{.heads = 1, .kv_heads = 1, .head_dim = 8, .layers = 4, .window = 0}};
static_assert(operations<without>() - operations<four>() == 3 * 2 * 2 * 1024 * 768 * 8);

}  // namespace

int main() {}
