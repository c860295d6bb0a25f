#pragma once

#include <redco/model/gemma.hpp>
#include <redco/model/stored_name.hpp>

#include <array>
#include <string_view>

namespace redco {

/// Table of the names that the tensors of Gemma 2 and Gemma 3 have in files. A head tied to the
/// embedding may be stored twice; the copy is not read. Biases, and the norms of queries and keys,
/// are optional.
template <>
struct models::stored_names<models::gemma> {
  static constexpr std::array names{
      models::stored_name{"embed_tokens.weight", "model.embed_tokens.weight"},
      models::stored_name{"norm.weight", "model.norm.weight"},
      models::stored_name{"layers.*.input_layernorm.weight", "model.layers.*.input_layernorm.weight"},
      models::stored_name{"layers.*.post_attention_layernorm.weight", "model.layers.*.post_attention_layernorm.weight"},
      models::stored_name{"layers.*.pre_feedforward_layernorm.weight",
                          "model.layers.*.pre_feedforward_layernorm.weight"},
      models::stored_name{"layers.*.post_feedforward_layernorm.weight",
                          "model.layers.*.post_feedforward_layernorm.weight"},
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
      models::stored_name{"layers.*.mlp.down.weight", "model.layers.*.mlp.down_proj.weight"},
      models::stored_name{"lm_head.weight", "lm_head.weight"}};
  static constexpr std::array<std::string_view, 1> unread{"lm_head.weight"};
  static constexpr std::string_view base = "model.";
  static constexpr std::array<std::string_view, 1> heads{"lm_head"};
};

}  // namespace redco
