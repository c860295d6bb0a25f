// GPT-J and OPT, with norms before and after branches: number of parameters of the public models,
// splits, legal widths, messages.
#include "model_facts.hpp"

#include <redco/model/gpt2.hpp>
#include <redco/model/gptj.hpp>
#include <redco/model/opt.hpp>

namespace {

using namespace model_facts;
using redco::extents;
using redco::fact::reason;

constexpr redco::gpt2 gpt2_large{{.width = 1280, .heads = 20, .layers = 36}};
static_assert(numbers<gpt2_large>() == 774'030'080);

// Per block q, k, v, o without biases, both matrices of the MLP with biases, one norm. Two tables,
// a bias of the head.
constexpr redco::gptj gptj_6b{};
constexpr std::int64_t d = 4096;
static_assert(numbers<gptj_6b>() == 28 * (12 * d * d + 4 * d + d + 2 * d) + 2 * 50400 * d + 50400 + 2 * d);
static_assert(numbers<gptj_6b>() == 6'050'882'784);
static_assert(part<gptj_6b>("h.*.attn.q.weight", 2, reason::heads) == extents{2048, 4096});
static_assert(part<gptj_6b>("h.*.attn.o.weight", 4, reason::row) == extents{4096, 1024});
static_assert(part<gptj_6b>("h.*.mlp.fc_in.weight", 4, reason::column) == extents{4096, 4096});
static_assert(part<gptj_6b>("h.*.mlp.fc_in.bias", 4, reason::column_bias) == extents{4096});
static_assert(part<gptj_6b>("h.*.mlp.fc_out.weight", 2, reason::row) == extents{4096, 8192});
static_assert(part<gptj_6b>("h.*.mlp.fc_out.bias", 2, reason::row_bias) == extents{4096});
static_assert(part<gptj_6b>("lm_head.bias", 4, reason::vocabulary) == extents{12600});
static_assert(count<gptj_6b>("h.*.attn.q.bias") == 0 && count<gptj_6b>("h.*.ln_2.weight") == 0);
static_assert(legal_widths<gptj_6b>({1, 2, 4, 8, 16}));

// Attention and MLP share one enter and one reduction.
static_assert(reductions<gptj_6b>("h.*", false, 28) == 1 && reductions<gptj_6b>("h.*", true, 28) == 1);
static_assert(reductions<gptj_6b>("", false) == 28 + 1 && reductions<gptj_6b>("", true) == 28 + 1);

constexpr auto turned = redco::gptj::attention::scores(gptj_6b.config);
static_assert(turned.rotary.dims == 64 && turned.rotary.pairs == redco::layers::rotary_pairs::neighbours);

// A bias of the head belongs to the loss: its gradient is computed in forward.
constexpr bool states(std::string_view slot) { return tensor_at<gptj_6b>("lm_head", slot).shape.rank > 0; }
static_assert(states("bias_gradient") && states("logits"));

// Position tables have two more rows than positions.
constexpr redco::opt opt_125m{{.width = 768, .ffn = 3072, .heads = 12, .layers = 12}};
constexpr redco::opt opt_2b{};
constexpr redco::opt opt_13b{{.width = 5120, .ffn = 20480, .heads = 40, .layers = 40}};
static_assert(numbers<opt_125m>() == 125'239'296);
static_assert(numbers<opt_2b>() == 2'651'596'800);
static_assert(numbers<opt_13b>() == 12'853'473'280);
static_assert(part<opt_2b>("embed_positions.weight", 4, reason::position) == extents{2050, 2560});
static_assert(part<opt_2b>("embed_tokens.weight", 4, reason::vocabulary) == extents{12568, 2560});
static_assert(part<opt_2b>("layers.*.self_attn.q.bias", 4, reason::column_bias) == extents{640});
static_assert(part<opt_2b>("layers.*.self_attn.o.bias", 4, reason::row_bias) == extents{2560});
static_assert(part<opt_2b>("layers.*.fc1.weight", 2, reason::column) == extents{5120, 2560});
static_assert(part<opt_2b>("layers.*.fc2.weight", 4, reason::row) == extents{2560, 2560});
static_assert(legal_widths<opt_2b>({1, 2, 4, 8, 16, 32}));
static_assert(legal_widths<opt_125m>({1, 2, 3, 4, 6, 12}));
static_assert(reductions<opt_2b>("layers.*", false, 32) == 2 && reductions<opt_2b>("layers.*", true, 32) == 2);
static_assert(reductions<opt_2b>("", false) == 2 * 32 + 1);

constexpr redco::models::opt_post_norm opt_350m{};
static_assert(numbers<opt_350m>() == 331'196'416);
static_assert(part<opt_350m>("project_in.weight", 2, reason::declared) == extents{1024, 512});
static_assert(part<opt_350m>("project_out.weight", 4, reason::declared) == extents{512, 1024});
static_assert(part<opt_350m>("embed_tokens.weight", 4, reason::vocabulary) == extents{12568, 512});
static_assert(count<opt_350m>("final_layer_norm.weight") == 0 && count<opt_350m>("project_in.bias") == 0);
static_assert(legal_widths<opt_350m>({1, 2, 4, 8, 16}));
constexpr redco::models::opt_post_norm as_wide{{.embedding_width = 1024}};
static_assert(count<as_wide>("project_in.weight") == 0 && count<as_wide>("project_out.weight") == 0);
static_assert(part<as_wide>("embed_tokens.weight", 4, reason::vocabulary) == extents{12568, 1024});
static_assert(numbers<as_wide>() == numbers<opt_350m>() + (50272 - 2 * 1024) * 512);
static_assert(reductions<opt_350m>("layers.*", false, 24) == 2 && reductions<opt_350m>("layers.*", true, 24) == 2);

}  // namespace

int main() {}
