#pragma once

#include <redco/model/llama.hpp>
#include <redco/model/mixtral.hpp>
#include <redco/model/olmo2.hpp>
#include <redco/model/olmoe.hpp>
#include <redco/model/stored_name.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace redco {

/// Table of the names that the tensors of LLaMA, Mistral, Qwen, SmolLM3 and Phi-3 have in files. A
/// head tied to the embedding may be stored twice; the copy is not read. Biases, and the norms of
/// queries and keys, are optional.
template <>
struct models::stored_names<llama> {
  static constexpr std::array names{
      models::stored_name{"embed_tokens.weight", "model.embed_tokens.weight"},
      models::stored_name{"norm.weight", "model.norm.weight"},
      models::stored_name{"layers.*.input_layernorm.weight", "model.layers.*.input_layernorm.weight"},
      models::stored_name{"layers.*.post_attention_layernorm.weight", "model.layers.*.post_attention_layernorm.weight"},
      models::stored_name{"layers.*.self_attn.q.weight", "model.layers.*.self_attn.q_proj.weight"},
      models::stored_name{"layers.*.self_attn.q.bias", "model.layers.*.self_attn.q_proj.bias"},
      models::stored_name{"layers.*.self_attn.k.weight", "model.layers.*.self_attn.k_proj.weight"},
      models::stored_name{"layers.*.self_attn.k.bias", "model.layers.*.self_attn.k_proj.bias"},
      models::stored_name{"layers.*.self_attn.v.weight", "model.layers.*.self_attn.v_proj.weight"},
      models::stored_name{"layers.*.self_attn.v.bias", "model.layers.*.self_attn.v_proj.bias"},
      models::stored_name{"layers.*.self_attn.o.weight", "model.layers.*.self_attn.o_proj.weight"},
      models::stored_name{"layers.*.self_attn.o.bias", "model.layers.*.self_attn.o_proj.bias"},
      models::stored_name{"layers.*.self_attn.q_norm.weight", "model.layers.*.self_attn.q_norm.weight"},
      models::stored_name{"layers.*.self_attn.k_norm.weight", "model.layers.*.self_attn.k_norm.weight"},
      models::stored_name{"layers.*.mlp.gate.weight", "model.layers.*.mlp.gate_proj.weight"},
      models::stored_name{"layers.*.mlp.up.weight", "model.layers.*.mlp.up_proj.weight"},
      models::stored_name{"layers.*.mlp.gate.bias", "model.layers.*.mlp.gate_proj.bias"},
      models::stored_name{"layers.*.mlp.up.bias", "model.layers.*.mlp.up_proj.bias"},
      models::stored_name{"layers.*.mlp.down.weight", "model.layers.*.mlp.down_proj.weight"},
      models::stored_name{"layers.*.mlp.down.bias", "model.layers.*.mlp.down_proj.bias"},
      models::stored_name{"lm_head.weight", "lm_head.weight"}};
  static constexpr std::array<std::string_view, 3> unread{"model.layers.*.self_attn.rotary_emb.inv_freq",
                                                          "model.rotary_emb.inv_freq", "lm_head.weight"};
  static constexpr std::string_view base = "model.";
  static constexpr std::array<std::string_view, 1> heads{"lm_head"};

  /// Returns the table for a model of this config. Files of Phi-3 store q, k and v as one tensor,
  /// and gate and up as another.
  static std::vector<stored_name> names_of(llama_config const& config) {
    std::vector<stored_name> all(names.begin(), names.end());
    if (!config.fused_in_files) return all;
    std::int64_t const head = config.head_dim > 0 ? config.head_dim : config.width / config.heads,
                       q = config.heads * head, kv = config.kv_heads * head;
    auto const join = [&](std::string_view ours, std::string_view theirs, int part, int parts, std::int64_t first,
                          std::int64_t rows) {
      for (stored_name& row : all)
        if (row.ours == ours)
          row = {.ours = ours, .theirs = theirs, .part = part, .parts = parts, .first = first, .rows = rows};
    };
    std::string_view const qkv = "model.layers.*.self_attn.qkv_proj.weight",
                           both = "model.layers.*.mlp.gate_up_proj.weight";
    join("layers.*.self_attn.q.weight", qkv, 0, 3, 0, q + 2 * kv);
    join("layers.*.self_attn.k.weight", qkv, 1, 3, q, q + 2 * kv);
    join("layers.*.self_attn.v.weight", qkv, 2, 3, q + kv, q + 2 * kv);
    join("layers.*.mlp.gate.weight", both, 0, 2, 0, 2 * config.ffn);
    join("layers.*.mlp.up.weight", both, 1, 2, config.ffn, 2 * config.ffn);
    return all;
  }
};

/// Table of the names that OLMo 2's tensors have in files: those of LLaMA, except for the norms of
/// the blocks.
template <>
struct models::stored_names<models::olmo2> {
  static constexpr std::array names = [] {
    auto all = stored_names<llama>::names;
    for (stored_name& row : all)
      if (row.ours == "layers.*.input_layernorm.weight")
        row = {.ours = "layers.*.post_feedforward_layernorm.weight",
               .theirs = "model.layers.*.post_feedforward_layernorm.weight"};
    return all;
  }();
  static constexpr std::array<std::string_view, 1> unread{"lm_head.weight"};
  static constexpr std::string_view base = "model.";
  static constexpr std::array<std::string_view, 1> heads{"lm_head"};
};

}  // namespace redco

namespace redco::pretrained::detail {

/// Names that the tensors of a mixture of experts have in files. The first `*` is the index of the
/// block, the second the index of the expert.
struct expert_names {
  std::string_view router, gate, up, down;
};

/// Returns LLaMA's table with experts in place of its feed-forward layers. Each expert is a tensor
/// of the files. Files of transformers 5 may have one tensor for all experts.
constexpr auto with_experts(expert_names const& in_files) {
  constexpr std::string_view both = "model.layers.*.mlp.experts.gate_up_proj";
  std::array<models::stored_name, models::stored_names<llama>::names.size() - 2> all{};
  std::size_t count = 0;
  for (models::stored_name row : models::stored_names<llama>::names) {
    if (row.ours == "layers.*.mlp.up.bias" || row.ours == "layers.*.mlp.down.bias") continue;
    if (row.ours == "layers.*.mlp.gate.weight") {
      row.theirs = in_files.router;
      if (row.theirs != "model.layers.*.mlp.gate.weight") row.stacked.theirs = "model.layers.*.mlp.gate.weight";
    } else if (row.ours == "layers.*.mlp.gate.bias") {
      row = {.ours = "layers.*.mlp.experts.gate.*", .theirs = in_files.gate, .stacked = {both, 0, 2}};
    } else if (row.ours == "layers.*.mlp.up.weight") {
      row = {.ours = "layers.*.mlp.experts.up.*", .theirs = in_files.up, .stacked = {both, 1, 2}};
    } else if (row.ours == "layers.*.mlp.down.weight") {
      row = {.ours = "layers.*.mlp.experts.down.*",
             .theirs = in_files.down,
             .stacked = {"model.layers.*.mlp.experts.down_proj"}};
    }
    all.at(count++) = row;
  }
  return all;
}

}  // namespace redco::pretrained::detail

namespace redco {

/// Table of the names that OLMoE's tensors have in files: those of LLaMA, except for its experts.
template <>
struct models::stored_names<models::olmoe> {
  static constexpr std::array names = pretrained::detail::with_experts(
      {"model.layers.*.mlp.gate.weight", "model.layers.*.mlp.experts.*.gate_proj.weight",
       "model.layers.*.mlp.experts.*.up_proj.weight", "model.layers.*.mlp.experts.*.down_proj.weight"});
  static constexpr std::array<std::string_view, 1> unread{"lm_head.weight"};
  static constexpr std::string_view base = "model.";
  static constexpr std::array<std::string_view, 1> heads{"lm_head"};
};

/// Table of the names that Mixtral's tensors have in files: those of LLaMA, except for its experts.
/// Files of Qwen3-MoE have the names of OLMoE.
template <>
struct models::stored_names<models::mixtral> : models::stored_names<models::olmoe> {
  static constexpr std::array names = pretrained::detail::with_experts(
      {"model.layers.*.block_sparse_moe.gate.weight", "model.layers.*.block_sparse_moe.experts.*.w1.weight",
       "model.layers.*.block_sparse_moe.experts.*.w3.weight", "model.layers.*.block_sparse_moe.experts.*.w2.weight"});

  /// Returns the table for a model of this config.
  static std::vector<stored_name> names_of(mixtral_config const& config) {
    auto const& of_family = config.is_mixtral ? names : stored_names<models::olmoe>::names;
    return {of_family.begin(), of_family.end()};
  }
};

}  // namespace redco
