// Decisions of the Python original at compile time: seven public architectures, and cases in which
// it replicates or surprises.
#include <redco/compat/compat_plan.hpp>

#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace {

using redco::compat::compat_reason;
using redco::compat::compat_split;

/// A parameter with the original's name, in stored order, and the dimension along which it is split
/// (-1: replicated).
struct row {
  std::string_view path;
  redco::extents shape;
  int dim = -1;
};

template <std::size_t Rows>
constexpr auto plan_of_rows(row const (&tree)[Rows], int n) {
  std::array<redco::compat::compat_parameter, Rows> parameters;
  for (std::size_t i = 0; i < Rows; ++i) parameters[i] = {tree[i].path, tree[i].shape};
  auto const plan = redco::compat::compat_plan(parameters, n);
  std::array<compat_split, Rows> splits;
  for (std::size_t i = 0; i < Rows; ++i) splits[i] = plan[i];
  return splits;
}

/// Returns the index of the first row with another decision, or the number of rows.
template <std::size_t Rows>
constexpr std::size_t first_wrong(row const (&tree)[Rows], int n) {
  auto const splits = plan_of_rows(tree, n);
  for (std::size_t i = 0; i < Rows; ++i)
    if (splits[i].dim != tree[i].dim) return i;
  return Rows;
}

template <std::size_t Rows>
constexpr bool all_whole(row const (&tree)[Rows], int n, compat_reason why) {
  for (compat_split const& s : plan_of_rows(tree, n))
    if (s != compat_split{-1, why}) return false;
  return true;
}

// The shapes of the public configs, one block of each.

constexpr row opt_13b[] = {
    {"model/decoder/embed_positions/embedding", {2050, 5120}, 1},
    {"model/decoder/embed_tokens/embedding", {50272, 5120}, 1},
    {"model/decoder/layers/0/fc1/bias", {20480}},
    {"model/decoder/layers/0/fc1/kernel", {5120, 20480}, 1},
    {"model/decoder/layers/0/fc2/kernel", {20480, 5120}, 0},
    {"model/decoder/layers/0/self_attn/k_proj/kernel", {5120, 5120}, 1},
    {"model/decoder/layers/0/self_attn/out_proj/kernel", {5120, 5120}, 0},
    {"model/decoder/layers/0/self_attn/q_proj/kernel", {5120, 5120}, 1},
    {"model/decoder/layers/0/self_attn/v_proj/kernel", {5120, 5120}, 1},
    {"model/decoder/layers/0/self_attn_layer_norm/scale", {5120}},
};
static_assert(first_wrong(opt_13b, 4) == std::size(opt_13b));
// 2 divides the 2050 positions and 4 does not, under one rule
static_assert(plan_of_rows(opt_13b, 2)[1].dim == 0);

constexpr row llama_7b[] = {
    {"lm_head/kernel", {4096, 32000}, 1},
    {"model/embed_tokens/embedding", {32000, 4096}, 0},
    {"model/layers/0/mlp/down_proj/kernel", {11008, 4096}, 0},
    {"model/layers/0/mlp/gate_proj/kernel", {4096, 11008}, 1},
    {"model/layers/0/mlp/up_proj/kernel", {4096, 11008}, 1},
    {"model/layers/0/self_attn/k_proj/kernel", {4096, 4096}, 1},
    {"model/layers/0/self_attn/o_proj/kernel", {4096, 4096}, 0},
    {"model/layers/0/self_attn/q_proj/kernel", {4096, 4096}, 1},
    {"model/layers/0/self_attn/v_proj/kernel", {4096, 4096}, 1},
};
static_assert(first_wrong(llama_7b, 4) == std::size(llama_7b));
static_assert(all_whole(llama_7b, 6, compat_reason::no_dimension_divides));
static_assert(all_whole(llama_7b, 1, compat_reason::one_shard));

constexpr row gptj_6b[] = {
    {"lm_head/bias", {50400}},
    {"lm_head/kernel", {4096, 50400}, 1},
    {"transformer/h/0/attn/k_proj/kernel", {4096, 4096}, 1},
    {"transformer/h/0/attn/out_proj/kernel", {4096, 4096}, 0},
    {"transformer/h/0/attn/q_proj/kernel", {4096, 4096}, 1},
    {"transformer/h/0/attn/v_proj/kernel", {4096, 4096}, 1},
    {"transformer/h/0/mlp/fc_in/kernel", {4096, 16384}, 1},
    {"transformer/h/0/mlp/fc_out/kernel", {16384, 4096}, 0},
    {"transformer/wte/embedding", {50400, 4096}, 0},
};
static_assert(first_wrong(gptj_6b, 4) == std::size(gptj_6b));

constexpr row t5_11b[] = {
    {"decoder/block/0/layer/0/SelfAttention/k/kernel", {1024, 16384}, 1},
    {"decoder/block/0/layer/0/SelfAttention/o/kernel", {16384, 1024}, 0},
    {"decoder/block/0/layer/0/SelfAttention/q/kernel", {1024, 16384}, 1},
    {"decoder/block/0/layer/0/SelfAttention/relative_attention_bias/embedding", {32, 128}, 0},
    {"decoder/block/0/layer/0/SelfAttention/v/kernel", {1024, 16384}, 1},
    {"decoder/block/0/layer/1/EncDecAttention/q/kernel", {1024, 16384}, 1},
    {"decoder/block/0/layer/2/DenseReluDense/wi/kernel", {1024, 65536}, 1},
    {"decoder/block/0/layer/2/DenseReluDense/wo/kernel", {65536, 1024}, 0},
    {"decoder/block/0/layer/2/layer_norm/weight", {1024}},
    {"shared/embedding", {32128, 1024}, 0},
};
static_assert(first_wrong(t5_11b, 8) == std::size(t5_11b));

constexpr row bart_large[] = {
    {"final_logits_bias", {1, 50265}},
    {"model/decoder/embed_positions/embedding", {1026, 1024}, 1},
    {"model/decoder/layers/0/encoder_attn/k_proj/kernel", {1024, 1024}, 1},
    {"model/decoder/layers/0/encoder_attn/out_proj/kernel", {1024, 1024}, 0},
    {"model/decoder/layers/0/encoder_attn/q_proj/kernel", {1024, 1024}, 1},
    {"model/decoder/layers/0/encoder_attn/v_proj/kernel", {1024, 1024}, 1},
    {"model/decoder/layers/0/fc1/kernel", {1024, 4096}, 1},
    {"model/decoder/layers/0/fc2/kernel", {4096, 1024}, 0},
    {"model/shared/embedding", {50265, 1024}, 1},
};
static_assert(first_wrong(bart_large, 2) == std::size(bart_large));

constexpr row roberta_large[] = {
    {"classifier/dense/kernel", {1024, 1024}, 1},
    {"classifier/out_proj/kernel", {1024, 2}, 0},
    {"roberta/embeddings/position_embeddings/embedding", {514, 1024}, 1},
    {"roberta/embeddings/token_type_embeddings/embedding", {1, 1024}, 1},
    {"roberta/embeddings/word_embeddings/embedding", {50265, 1024}, 1},
    {"roberta/encoder/layer/0/attention/output/dense/kernel", {1024, 1024}, 1},
    {"roberta/encoder/layer/0/attention/self/key/kernel", {1024, 1024}, 1},
    {"roberta/encoder/layer/0/attention/self/query/kernel", {1024, 1024}, 1},
    {"roberta/encoder/layer/0/attention/self/value/kernel", {1024, 1024}, 1},
    {"roberta/encoder/layer/0/intermediate/dense/kernel", {1024, 4096}, 1},
    {"roberta/encoder/layer/0/output/dense/kernel", {4096, 1024}, 1},
};
static_assert(first_wrong(roberta_large, 2) == std::size(roberta_large));

constexpr row gpt2_large[] = {
    // Kernels that are stored as [out, in].
    {"transformer/h/0/attn/c_attn/kernel", {3840, 1280}, 1}, {"transformer/h/0/attn/c_proj/kernel", {1280, 1280}, 1},
    {"transformer/h/0/mlp/c_fc/kernel", {5120, 1280}, 0},    {"transformer/h/0/mlp/c_proj/kernel", {1280, 5120}, 1},
    {"transformer/wpe/embedding", {1024, 1280}, 1},          {"transformer/wte/embedding", {50257, 1280}, 1},
};
static_assert(first_wrong(gpt2_large, 2) == std::size(gpt2_large));

// The alternation follows sorted names: Dense_1 comes after Dense_0, Dense_2 after Dense_10.
constexpr row eleven[] = {
    {"Dense_0/kernel", {8, 8}, 1}, {"Dense_1/kernel", {8, 8}, 0},  {"Dense_2/kernel", {8, 8}, 0},
    {"Dense_3/kernel", {8, 8}, 1}, {"Dense_4/kernel", {8, 8}, 0},  {"Dense_5/kernel", {8, 8}, 1},
    {"Dense_6/kernel", {8, 8}, 0}, {"Dense_7/kernel", {8, 8}, 1},  {"Dense_8/kernel", {8, 8}, 0},
    {"Dense_9/kernel", {8, 8}, 1}, {"Dense_10/kernel", {8, 8}, 1},
};
static_assert(first_wrong(eleven, 2) == std::size(eleven));

// A special name does not count in the alternation.
constexpr row headed[] = {{"dense/kernel", {8, 8}, 1}, {"head_0/kernel", {8, 8}, 1}, {"other/kernel", {8, 8}, 0}};
static_assert(first_wrong(headed, 2) == std::size(headed));

// Names are compared component by component: "d" comes before "d-1", though '-' comes before '/'.
constexpr row dashed[] = {{"d-1/kernel", {8, 8}, 0}, {"d/kernel", {8, 8}, 1}};
static_assert(first_wrong(dashed, 2) == std::size(dashed));

// A rule applies to every path that contains its key. The rule of `embedding` precedes that of
// `embedding/kernel`.
constexpr row inner[] = {{"embedding/kernel", {8, 8}, 0}, {"tokens/embedding", {8, 8}, 0}};
static_assert(first_wrong(inner, 2) == std::size(inner));
static_assert(plan_of_rows(inner, 2)[0].why == compat_reason::embedding);

// Two tensor ranks under one name are replicated. The original raises if a third parameter does not
// divide.
constexpr row ranks[] = {{"a/fc/kernel", {8, 8}}, {"b/fc/kernel", {8}}, {"c/fc/kernel", {4, 4}}};
static_assert(all_whole(ranks, 4, compat_reason::ranks_differ));
static_assert(all_whole(ranks, 8, compat_reason::raises));

constexpr row small[] = {{"norm/scale", {8}}, {"cls_token", {1, 1, 8}}};
static_assert(all_whole(small, 2, compat_reason::not_kernel_or_embedding));

static_assert(sentence_of(compat_reason::raises).ends_with("does not divide"));

}  // namespace
