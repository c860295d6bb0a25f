#pragma once

#include <redco/shard/facts.hpp>
#include <redco/model/bart.hpp>
#include <redco/model/bert.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/gptj.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/opt.hpp>
#include <redco/model/roberta.hpp>
#include <redco/model/t5.hpp>
#include <redco/model/t5_gated.hpp>
#include <redco/model/vit.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/shape/extents.hpp>

#include <string_view>
#include <vector>

/// What the matrices of a pair read: the stream behind the pair before it, the same stream as the pair before it (results
/// are added), or the stream and, for all but the first, the encoder's.
enum class reads { apart, parallel, cross };

/// Dense layers by their paths without "/kernel": q, k, v or gate, up, and the one that reads what they give.
struct matrix_names {
  std::vector<std::string_view> first;
  std::string_view second;
  reads from = reads::apart;
};

struct layer_stack {
  int layers;
  std::vector<matrix_names> pairs;
};

/// A public model as the Python original stores it: kernels and embeddings of the first layer of each stack; and what our
/// model of it states.
struct layout_family {
  struct leaf {
    std::string_view path;
    redco::extents shape;
  };

  std::string_view name;
  std::vector<leaf> tree;
  std::vector<layer_stack> stacks;
  std::string_view embedding, head;  ///< empty: the model has none of a vocabulary's size
  bool kernels_out_in;               ///< kernels are stored [out, in] instead of [in, out]
  std::vector<redco::parameter_fact> ours;
};

inline std::vector<layout_family> const& layout_families() {
  static std::vector<layout_family> const all{
    {.name = "gpt2-large",
     .tree = {{"transformer/h/0/attn/c_attn/kernel", {3840, 1280}},
              {"transformer/h/0/attn/c_proj/kernel", {1280, 1280}},
              {"transformer/h/0/mlp/c_fc/kernel", {5120, 1280}},
              {"transformer/h/0/mlp/c_proj/kernel", {1280, 5120}},
              {"transformer/wpe/embedding", {1024, 1280}},
              {"transformer/wte/embedding", {50257, 1280}}},
     .stacks = {{36, {{{"transformer/h/0/attn/c_attn"}, "transformer/h/0/attn/c_proj", reads::apart},
                      {{"transformer/h/0/mlp/c_fc"}, "transformer/h/0/mlp/c_proj", reads::apart}}}},
     .embedding = "transformer/wte/embedding",
     .head = "transformer/wte/embedding",
     .kernels_out_in = true,
     .ours = redco::facts_of(redco::gpt2{{.width = 1280, .heads = 20, .layers = 36}}).parameters},
    {.name = "opt-2.7b",
     .tree = {{"model/decoder/embed_positions/embedding", {2050, 2560}},
              {"model/decoder/embed_tokens/embedding", {50272, 2560}},
              {"model/decoder/layers/0/fc1/kernel", {2560, 10240}},
              {"model/decoder/layers/0/fc2/kernel", {10240, 2560}},
              {"model/decoder/layers/0/self_attn/k_proj/kernel", {2560, 2560}},
              {"model/decoder/layers/0/self_attn/out_proj/kernel", {2560, 2560}},
              {"model/decoder/layers/0/self_attn/q_proj/kernel", {2560, 2560}},
              {"model/decoder/layers/0/self_attn/v_proj/kernel", {2560, 2560}}},
     .stacks = {{32, {{{"model/decoder/layers/0/self_attn/q_proj", "model/decoder/layers/0/self_attn/k_proj", "model/decoder/layers/0/self_attn/v_proj"}, "model/decoder/layers/0/self_attn/out_proj", reads::apart},
                      {{"model/decoder/layers/0/fc1"}, "model/decoder/layers/0/fc2", reads::apart}}}},
     .embedding = "model/decoder/embed_tokens/embedding",
     .head = "model/decoder/embed_tokens/embedding",
     .kernels_out_in = false,
     .ours = redco::facts_of(redco::opt{}).parameters},
    {.name = "llama-7b",
     .tree = {{"lm_head/kernel", {4096, 32000}},
              {"model/embed_tokens/embedding", {32000, 4096}},
              {"model/layers/0/mlp/down_proj/kernel", {11008, 4096}},
              {"model/layers/0/mlp/gate_proj/kernel", {4096, 11008}},
              {"model/layers/0/mlp/up_proj/kernel", {4096, 11008}},
              {"model/layers/0/self_attn/k_proj/kernel", {4096, 4096}},
              {"model/layers/0/self_attn/o_proj/kernel", {4096, 4096}},
              {"model/layers/0/self_attn/q_proj/kernel", {4096, 4096}},
              {"model/layers/0/self_attn/v_proj/kernel", {4096, 4096}}},
     .stacks = {{32, {{{"model/layers/0/self_attn/q_proj", "model/layers/0/self_attn/k_proj", "model/layers/0/self_attn/v_proj"}, "model/layers/0/self_attn/o_proj", reads::apart},
                      {{"model/layers/0/mlp/gate_proj", "model/layers/0/mlp/up_proj"}, "model/layers/0/mlp/down_proj", reads::apart}}}},
     .embedding = "model/embed_tokens/embedding",
     .head = "lm_head/kernel",
     .kernels_out_in = false,
     .ours = redco::facts_of(redco::llama{}).parameters},
    {.name = "llama3-8b",
     .tree = {{"lm_head/kernel", {4096, 128256}},
              {"model/embed_tokens/embedding", {128256, 4096}},
              {"model/layers/0/mlp/down_proj/kernel", {14336, 4096}},
              {"model/layers/0/mlp/gate_proj/kernel", {4096, 14336}},
              {"model/layers/0/mlp/up_proj/kernel", {4096, 14336}},
              {"model/layers/0/self_attn/k_proj/kernel", {4096, 1024}},
              {"model/layers/0/self_attn/o_proj/kernel", {4096, 4096}},
              {"model/layers/0/self_attn/q_proj/kernel", {4096, 4096}},
              {"model/layers/0/self_attn/v_proj/kernel", {4096, 1024}}},
     .stacks = {{32, {{{"model/layers/0/self_attn/q_proj", "model/layers/0/self_attn/k_proj", "model/layers/0/self_attn/v_proj"}, "model/layers/0/self_attn/o_proj", reads::apart},
                      {{"model/layers/0/mlp/gate_proj", "model/layers/0/mlp/up_proj"}, "model/layers/0/mlp/down_proj", reads::apart}}}},
     .embedding = "model/embed_tokens/embedding",
     .head = "lm_head/kernel",
     .kernels_out_in = false,
     .ours = redco::facts_of(redco::llama{{.vocab = 128256, .ffn = 14336, .kv_heads = 8}}).parameters},
    {.name = "gptj-6b",
     .tree = {{"lm_head/kernel", {4096, 50400}},
              {"transformer/h/0/attn/k_proj/kernel", {4096, 4096}},
              {"transformer/h/0/attn/out_proj/kernel", {4096, 4096}},
              {"transformer/h/0/attn/q_proj/kernel", {4096, 4096}},
              {"transformer/h/0/attn/v_proj/kernel", {4096, 4096}},
              {"transformer/h/0/mlp/fc_in/kernel", {4096, 16384}},
              {"transformer/h/0/mlp/fc_out/kernel", {16384, 4096}},
              {"transformer/wte/embedding", {50400, 4096}}},
     .stacks = {{28, {{{"transformer/h/0/attn/q_proj", "transformer/h/0/attn/k_proj", "transformer/h/0/attn/v_proj"}, "transformer/h/0/attn/out_proj", reads::apart},
                      {{"transformer/h/0/mlp/fc_in"}, "transformer/h/0/mlp/fc_out", reads::parallel}}}},
     .embedding = "transformer/wte/embedding",
     .head = "lm_head/kernel",
     .kernels_out_in = false,
     .ours = redco::facts_of(redco::gptj{}).parameters},
    {.name = "t5-xxl",
     .tree = {{"decoder/block/0/layer/0/SelfAttention/k/kernel", {4096, 4096}},
              {"decoder/block/0/layer/0/SelfAttention/o/kernel", {4096, 4096}},
              {"decoder/block/0/layer/0/SelfAttention/q/kernel", {4096, 4096}},
              {"decoder/block/0/layer/0/SelfAttention/relative_attention_bias/embedding", {32, 64}},
              {"decoder/block/0/layer/0/SelfAttention/v/kernel", {4096, 4096}},
              {"decoder/block/0/layer/1/EncDecAttention/k/kernel", {4096, 4096}},
              {"decoder/block/0/layer/1/EncDecAttention/o/kernel", {4096, 4096}},
              {"decoder/block/0/layer/1/EncDecAttention/q/kernel", {4096, 4096}},
              {"decoder/block/0/layer/1/EncDecAttention/v/kernel", {4096, 4096}},
              {"decoder/block/0/layer/2/DenseReluDense/wi/kernel", {4096, 10240}},
              {"decoder/block/0/layer/2/DenseReluDense/wo/kernel", {10240, 4096}},
              {"encoder/block/0/layer/0/SelfAttention/k/kernel", {4096, 4096}},
              {"encoder/block/0/layer/0/SelfAttention/o/kernel", {4096, 4096}},
              {"encoder/block/0/layer/0/SelfAttention/q/kernel", {4096, 4096}},
              {"encoder/block/0/layer/0/SelfAttention/relative_attention_bias/embedding", {32, 64}},
              {"encoder/block/0/layer/0/SelfAttention/v/kernel", {4096, 4096}},
              {"encoder/block/0/layer/1/DenseReluDense/wi/kernel", {4096, 10240}},
              {"encoder/block/0/layer/1/DenseReluDense/wo/kernel", {10240, 4096}},
              {"shared/embedding", {32128, 4096}}},
     .stacks = {{24, {{{"encoder/block/0/layer/0/SelfAttention/q", "encoder/block/0/layer/0/SelfAttention/k", "encoder/block/0/layer/0/SelfAttention/v"}, "encoder/block/0/layer/0/SelfAttention/o", reads::apart},
                      {{"encoder/block/0/layer/1/DenseReluDense/wi"}, "encoder/block/0/layer/1/DenseReluDense/wo", reads::apart}}},
                {24, {{{"decoder/block/0/layer/0/SelfAttention/q", "decoder/block/0/layer/0/SelfAttention/k", "decoder/block/0/layer/0/SelfAttention/v"}, "decoder/block/0/layer/0/SelfAttention/o", reads::apart},
                      {{"decoder/block/0/layer/1/EncDecAttention/q", "decoder/block/0/layer/1/EncDecAttention/k", "decoder/block/0/layer/1/EncDecAttention/v"}, "decoder/block/0/layer/1/EncDecAttention/o", reads::cross},
                      {{"decoder/block/0/layer/2/DenseReluDense/wi"}, "decoder/block/0/layer/2/DenseReluDense/wo", reads::apart}}}},
     .embedding = "shared/embedding",
     .head = "shared/embedding",
     .kernels_out_in = false,
     .ours = redco::facts_of(redco::t5{{.width = 4096, .ffn = 10240, .heads = 64, .head_dim = 64}}).parameters},
    {.name = "t5-v1.1",
     .tree = {{"decoder/block/0/layer/0/SelfAttention/k/kernel", {4096, 4096}},
              {"decoder/block/0/layer/0/SelfAttention/o/kernel", {4096, 4096}},
              {"decoder/block/0/layer/0/SelfAttention/q/kernel", {4096, 4096}},
              {"decoder/block/0/layer/0/SelfAttention/relative_attention_bias/embedding", {32, 64}},
              {"decoder/block/0/layer/0/SelfAttention/v/kernel", {4096, 4096}},
              {"decoder/block/0/layer/1/EncDecAttention/k/kernel", {4096, 4096}},
              {"decoder/block/0/layer/1/EncDecAttention/o/kernel", {4096, 4096}},
              {"decoder/block/0/layer/1/EncDecAttention/q/kernel", {4096, 4096}},
              {"decoder/block/0/layer/1/EncDecAttention/v/kernel", {4096, 4096}},
              {"decoder/block/0/layer/2/DenseReluDense/wi_0/kernel", {4096, 10240}},
              {"decoder/block/0/layer/2/DenseReluDense/wi_1/kernel", {4096, 10240}},
              {"decoder/block/0/layer/2/DenseReluDense/wo/kernel", {10240, 4096}},
              {"encoder/block/0/layer/0/SelfAttention/k/kernel", {4096, 4096}},
              {"encoder/block/0/layer/0/SelfAttention/o/kernel", {4096, 4096}},
              {"encoder/block/0/layer/0/SelfAttention/q/kernel", {4096, 4096}},
              {"encoder/block/0/layer/0/SelfAttention/relative_attention_bias/embedding", {32, 64}},
              {"encoder/block/0/layer/0/SelfAttention/v/kernel", {4096, 4096}},
              {"encoder/block/0/layer/1/DenseReluDense/wi_0/kernel", {4096, 10240}},
              {"encoder/block/0/layer/1/DenseReluDense/wi_1/kernel", {4096, 10240}},
              {"encoder/block/0/layer/1/DenseReluDense/wo/kernel", {10240, 4096}},
              {"lm_head/kernel", {4096, 32128}},
              {"shared/embedding", {32128, 4096}}},
     .stacks = {{24, {{{"encoder/block/0/layer/0/SelfAttention/q", "encoder/block/0/layer/0/SelfAttention/k", "encoder/block/0/layer/0/SelfAttention/v"}, "encoder/block/0/layer/0/SelfAttention/o", reads::apart},
                      {{"encoder/block/0/layer/1/DenseReluDense/wi_0", "encoder/block/0/layer/1/DenseReluDense/wi_1"}, "encoder/block/0/layer/1/DenseReluDense/wo", reads::apart}}},
                {24, {{{"decoder/block/0/layer/0/SelfAttention/q", "decoder/block/0/layer/0/SelfAttention/k", "decoder/block/0/layer/0/SelfAttention/v"}, "decoder/block/0/layer/0/SelfAttention/o", reads::apart},
                      {{"decoder/block/0/layer/1/EncDecAttention/q", "decoder/block/0/layer/1/EncDecAttention/k", "decoder/block/0/layer/1/EncDecAttention/v"}, "decoder/block/0/layer/1/EncDecAttention/o", reads::cross},
                      {{"decoder/block/0/layer/2/DenseReluDense/wi_0", "decoder/block/0/layer/2/DenseReluDense/wi_1"}, "decoder/block/0/layer/2/DenseReluDense/wo", reads::apart}}}},
     .embedding = "shared/embedding",
     .head = "lm_head/kernel",
     .kernels_out_in = false,
     .ours = redco::facts_of(redco::t5_gated{}).parameters},
    {.name = "bart-large",
     .tree = {{"model/decoder/embed_positions/embedding", {1026, 1024}},
              {"model/decoder/layers/0/encoder_attn/k_proj/kernel", {1024, 1024}},
              {"model/decoder/layers/0/encoder_attn/out_proj/kernel", {1024, 1024}},
              {"model/decoder/layers/0/encoder_attn/q_proj/kernel", {1024, 1024}},
              {"model/decoder/layers/0/encoder_attn/v_proj/kernel", {1024, 1024}},
              {"model/decoder/layers/0/fc1/kernel", {1024, 4096}},
              {"model/decoder/layers/0/fc2/kernel", {4096, 1024}},
              {"model/decoder/layers/0/self_attn/k_proj/kernel", {1024, 1024}},
              {"model/decoder/layers/0/self_attn/out_proj/kernel", {1024, 1024}},
              {"model/decoder/layers/0/self_attn/q_proj/kernel", {1024, 1024}},
              {"model/decoder/layers/0/self_attn/v_proj/kernel", {1024, 1024}},
              {"model/encoder/embed_positions/embedding", {1026, 1024}},
              {"model/encoder/layers/0/fc1/kernel", {1024, 4096}},
              {"model/encoder/layers/0/fc2/kernel", {4096, 1024}},
              {"model/encoder/layers/0/self_attn/k_proj/kernel", {1024, 1024}},
              {"model/encoder/layers/0/self_attn/out_proj/kernel", {1024, 1024}},
              {"model/encoder/layers/0/self_attn/q_proj/kernel", {1024, 1024}},
              {"model/encoder/layers/0/self_attn/v_proj/kernel", {1024, 1024}},
              {"model/shared/embedding", {50265, 1024}}},
     .stacks = {{12, {{{"model/encoder/layers/0/self_attn/q_proj", "model/encoder/layers/0/self_attn/k_proj", "model/encoder/layers/0/self_attn/v_proj"}, "model/encoder/layers/0/self_attn/out_proj", reads::apart},
                      {{"model/encoder/layers/0/fc1"}, "model/encoder/layers/0/fc2", reads::apart}}},
                {12, {{{"model/decoder/layers/0/self_attn/q_proj", "model/decoder/layers/0/self_attn/k_proj", "model/decoder/layers/0/self_attn/v_proj"}, "model/decoder/layers/0/self_attn/out_proj", reads::apart},
                      {{"model/decoder/layers/0/encoder_attn/q_proj", "model/decoder/layers/0/encoder_attn/k_proj", "model/decoder/layers/0/encoder_attn/v_proj"}, "model/decoder/layers/0/encoder_attn/out_proj", reads::cross},
                      {{"model/decoder/layers/0/fc1"}, "model/decoder/layers/0/fc2", reads::apart}}}},
     .embedding = "model/shared/embedding",
     .head = "model/shared/embedding",
     .kernels_out_in = false,
     .ours = redco::facts_of(redco::bart{}).parameters},
    {.name = "bert-large",
     .tree = {{"bert/embeddings/position_embeddings/embedding", {512, 1024}},
              {"bert/embeddings/token_type_embeddings/embedding", {2, 1024}},
              {"bert/embeddings/word_embeddings/embedding", {30522, 1024}},
              {"bert/encoder/layer/0/attention/output/dense/kernel", {1024, 1024}},
              {"bert/encoder/layer/0/attention/self/key/kernel", {1024, 1024}},
              {"bert/encoder/layer/0/attention/self/query/kernel", {1024, 1024}},
              {"bert/encoder/layer/0/attention/self/value/kernel", {1024, 1024}},
              {"bert/encoder/layer/0/intermediate/dense/kernel", {1024, 4096}},
              {"bert/encoder/layer/0/output/dense/kernel", {4096, 1024}},
              {"bert/pooler/dense/kernel", {1024, 1024}},
              {"classifier/kernel", {1024, 2}}},
     .stacks = {{24, {{{"bert/encoder/layer/0/attention/self/query", "bert/encoder/layer/0/attention/self/key", "bert/encoder/layer/0/attention/self/value"}, "bert/encoder/layer/0/attention/output/dense", reads::apart},
                      {{"bert/encoder/layer/0/intermediate/dense"}, "bert/encoder/layer/0/output/dense", reads::apart}}}},
     .embedding = "bert/embeddings/word_embeddings/embedding",
     .head = "",
     .kernels_out_in = false,
     .ours = redco::facts_of(redco::bert{}).parameters},
    {.name = "roberta-large",
     .tree = {{"classifier/dense/kernel", {1024, 1024}},
              {"classifier/out_proj/kernel", {1024, 2}},
              {"roberta/embeddings/position_embeddings/embedding", {512, 1024}},
              {"roberta/embeddings/token_type_embeddings/embedding", {2, 1024}},
              {"roberta/embeddings/word_embeddings/embedding", {50265, 1024}},
              {"roberta/encoder/layer/0/attention/output/dense/kernel", {1024, 1024}},
              {"roberta/encoder/layer/0/attention/self/key/kernel", {1024, 1024}},
              {"roberta/encoder/layer/0/attention/self/query/kernel", {1024, 1024}},
              {"roberta/encoder/layer/0/attention/self/value/kernel", {1024, 1024}},
              {"roberta/encoder/layer/0/intermediate/dense/kernel", {1024, 4096}},
              {"roberta/encoder/layer/0/output/dense/kernel", {4096, 1024}}},
     .stacks = {{24, {{{"roberta/encoder/layer/0/attention/self/query", "roberta/encoder/layer/0/attention/self/key", "roberta/encoder/layer/0/attention/self/value"}, "roberta/encoder/layer/0/attention/output/dense", reads::apart},
                      {{"roberta/encoder/layer/0/intermediate/dense"}, "roberta/encoder/layer/0/output/dense", reads::apart}}}},
     .embedding = "roberta/embeddings/word_embeddings/embedding",
     .head = "",
     .kernels_out_in = false,
     .ours = redco::facts_of(redco::roberta{}).parameters},
    {.name = "vit-large",
     .tree = {{"classifier/kernel", {1024, 2}},
              {"vit/embeddings/patch_embeddings/projection/kernel", {16, 16, 3, 1024}},
              {"vit/encoder/layer/0/attention/attention/key/kernel", {1024, 1024}},
              {"vit/encoder/layer/0/attention/attention/query/kernel", {1024, 1024}},
              {"vit/encoder/layer/0/attention/attention/value/kernel", {1024, 1024}},
              {"vit/encoder/layer/0/attention/output/dense/kernel", {1024, 1024}},
              {"vit/encoder/layer/0/intermediate/dense/kernel", {1024, 4096}},
              {"vit/encoder/layer/0/output/dense/kernel", {4096, 1024}}},
     .stacks = {{24, {{{"vit/encoder/layer/0/attention/attention/query", "vit/encoder/layer/0/attention/attention/key", "vit/encoder/layer/0/attention/attention/value"}, "vit/encoder/layer/0/attention/output/dense", reads::apart},
                      {{"vit/encoder/layer/0/intermediate/dense"}, "vit/encoder/layer/0/output/dense", reads::apart}}}},
     .embedding = "",
     .head = "",
     .kernels_out_in = false,
     .ours = redco::facts_of(redco::vit{}).parameters}};
  return all;
}
