#pragma once

#include <redco/model/gpt2.hpp>
#include <redco/model/gpt_neo.hpp>
#include <redco/model/gpt_neox.hpp>
#include <redco/model/gptj.hpp>
#include <redco/model/stored_name.hpp>

#include <array>
#include <string_view>
#include <vector>

namespace redco {

/// Table of the names that GPT-2's tensors have in files. Files store matrices as [in, out], and
/// query, key and value in one tensor.
template <>
struct models::stored_names<gpt2> {
  static constexpr std::array names{
      models::stored_name{"wte.weight", "transformer.wte.weight"},
      models::stored_name{"wpe.weight", "transformer.wpe.weight"},
      models::stored_name{"h.*.ln_1.weight", "transformer.h.*.ln_1.weight"},
      models::stored_name{"h.*.ln_1.bias", "transformer.h.*.ln_1.bias"},
      models::stored_name{"h.*.ln_2.weight", "transformer.h.*.ln_2.weight"},
      models::stored_name{"h.*.ln_2.bias", "transformer.h.*.ln_2.bias"},
      models::stored_name{"ln_f.weight", "transformer.ln_f.weight"},
      models::stored_name{"ln_f.bias", "transformer.ln_f.bias"},
      models::stored_name{"h.*.attn.q.weight", "transformer.h.*.attn.c_attn.weight", true, 0, 3},
      models::stored_name{"h.*.attn.q.bias", "transformer.h.*.attn.c_attn.bias", false, 0, 3},
      models::stored_name{"h.*.attn.k.weight", "transformer.h.*.attn.c_attn.weight", true, 1, 3},
      models::stored_name{"h.*.attn.k.bias", "transformer.h.*.attn.c_attn.bias", false, 1, 3},
      models::stored_name{"h.*.attn.v.weight", "transformer.h.*.attn.c_attn.weight", true, 2, 3},
      models::stored_name{"h.*.attn.v.bias", "transformer.h.*.attn.c_attn.bias", false, 2, 3},
      models::stored_name{"h.*.attn.o.weight", "transformer.h.*.attn.c_proj.weight", true},
      models::stored_name{"h.*.attn.o.bias", "transformer.h.*.attn.c_proj.bias"},
      models::stored_name{"h.*.mlp.up.weight", "transformer.h.*.mlp.c_fc.weight", true},
      models::stored_name{"h.*.mlp.up.bias", "transformer.h.*.mlp.c_fc.bias"},
      models::stored_name{"h.*.mlp.down.weight", "transformer.h.*.mlp.c_proj.weight", true},
      models::stored_name{"h.*.mlp.down.bias", "transformer.h.*.mlp.c_proj.bias"}};
  static constexpr std::array<std::string_view, 3> unread{"lm_head.weight", "transformer.h.*.attn.bias",
                                                          "transformer.h.*.attn.masked_bias"};
  static constexpr std::string_view base = "transformer.";
};

/// Table of the names that GPT-Neo's tensors have in files.
template <>
struct models::stored_names<gpt_neo> {
  static constexpr std::array names{
      models::stored_name{"wte.weight", "transformer.wte.weight"},
      models::stored_name{"wpe.weight", "transformer.wpe.weight"},
      models::stored_name{"h.*.ln_1.weight", "transformer.h.*.ln_1.weight"},
      models::stored_name{"h.*.ln_1.bias", "transformer.h.*.ln_1.bias"},
      models::stored_name{"h.*.ln_2.weight", "transformer.h.*.ln_2.weight"},
      models::stored_name{"h.*.ln_2.bias", "transformer.h.*.ln_2.bias"},
      models::stored_name{"ln_f.weight", "transformer.ln_f.weight"},
      models::stored_name{"ln_f.bias", "transformer.ln_f.bias"},
      models::stored_name{"h.*.attn.q.weight", "transformer.h.*.attn.attention.q_proj.weight"},
      models::stored_name{"h.*.attn.k.weight", "transformer.h.*.attn.attention.k_proj.weight"},
      models::stored_name{"h.*.attn.v.weight", "transformer.h.*.attn.attention.v_proj.weight"},
      models::stored_name{"h.*.attn.o.weight", "transformer.h.*.attn.attention.out_proj.weight"},
      models::stored_name{"h.*.attn.o.bias", "transformer.h.*.attn.attention.out_proj.bias"},
      models::stored_name{"h.*.mlp.up.weight", "transformer.h.*.mlp.c_fc.weight"},
      models::stored_name{"h.*.mlp.up.bias", "transformer.h.*.mlp.c_fc.bias"},
      models::stored_name{"h.*.mlp.down.weight", "transformer.h.*.mlp.c_proj.weight"},
      models::stored_name{"h.*.mlp.down.bias", "transformer.h.*.mlp.c_proj.bias"}};
  static constexpr std::array<std::string_view, 3> unread{"lm_head.weight", "transformer.h.*.attn.attention.bias",
                                                          "transformer.h.*.attn.attention.masked_bias"};
  static constexpr std::string_view base = "transformer.";
};

/// Table of the names that GPT-J's tensors have in files.
template <>
struct models::stored_names<gptj> {
  static constexpr std::array names{models::stored_name{"wte.weight", "transformer.wte.weight"},
                                    models::stored_name{"lm_head.weight", "lm_head.weight"},
                                    models::stored_name{"lm_head.bias", "lm_head.bias"},
                                    models::stored_name{"h.*.ln_1.weight", "transformer.h.*.ln_1.weight"},
                                    models::stored_name{"h.*.ln_1.bias", "transformer.h.*.ln_1.bias"},
                                    models::stored_name{"ln_f.weight", "transformer.ln_f.weight"},
                                    models::stored_name{"ln_f.bias", "transformer.ln_f.bias"},
                                    models::stored_name{"h.*.attn.q.weight", "transformer.h.*.attn.q_proj.weight"},
                                    models::stored_name{"h.*.attn.k.weight", "transformer.h.*.attn.k_proj.weight"},
                                    models::stored_name{"h.*.attn.v.weight", "transformer.h.*.attn.v_proj.weight"},
                                    models::stored_name{"h.*.attn.o.weight", "transformer.h.*.attn.out_proj.weight"},
                                    models::stored_name{"h.*.mlp.fc_in.weight", "transformer.h.*.mlp.fc_in.weight"},
                                    models::stored_name{"h.*.mlp.fc_in.bias", "transformer.h.*.mlp.fc_in.bias"},
                                    models::stored_name{"h.*.mlp.fc_out.weight", "transformer.h.*.mlp.fc_out.weight"},
                                    models::stored_name{"h.*.mlp.fc_out.bias", "transformer.h.*.mlp.fc_out.bias"}};
  static constexpr std::array<std::string_view, 2> unread{"transformer.h.*.attn.bias",
                                                          "transformer.h.*.attn.masked_bias"};
  static constexpr std::string_view base = "transformer.";
  static constexpr std::array<std::string_view, 1> heads{"lm_head"};
};

/// Table of the names that GPT-NeoX's tensors have in files. Files store queries, keys and values
/// of each head in turn in one tensor. Old files have buffers of masks and angles, which are not
/// read.
template <>
struct models::stored_names<models::gpt_neox> {
  static constexpr std::array names{
      stored_name{"embed_in.weight", "gpt_neox.embed_in.weight"},
      stored_name{"final_layer_norm.weight", "gpt_neox.final_layer_norm.weight"},
      stored_name{"final_layer_norm.bias", "gpt_neox.final_layer_norm.bias"},
      stored_name{"embed_out.weight", "embed_out.weight"},
      stored_name{"layers.*.input_layernorm.weight", "gpt_neox.layers.*.input_layernorm.weight"},
      stored_name{"layers.*.input_layernorm.bias", "gpt_neox.layers.*.input_layernorm.bias"},
      stored_name{"layers.*.post_attention_layernorm.weight", "gpt_neox.layers.*.post_attention_layernorm.weight"},
      stored_name{"layers.*.post_attention_layernorm.bias", "gpt_neox.layers.*.post_attention_layernorm.bias"},
      stored_name{"layers.*.attention.q.weight", "gpt_neox.layers.*.attention.query_key_value.weight", false, 0, 3},
      stored_name{"layers.*.attention.q.bias", "gpt_neox.layers.*.attention.query_key_value.bias", false, 0, 3},
      stored_name{"layers.*.attention.k.weight", "gpt_neox.layers.*.attention.query_key_value.weight", false, 1, 3},
      stored_name{"layers.*.attention.k.bias", "gpt_neox.layers.*.attention.query_key_value.bias", false, 1, 3},
      stored_name{"layers.*.attention.v.weight", "gpt_neox.layers.*.attention.query_key_value.weight", false, 2, 3},
      stored_name{"layers.*.attention.v.bias", "gpt_neox.layers.*.attention.query_key_value.bias", false, 2, 3},
      stored_name{"layers.*.attention.o.weight", "gpt_neox.layers.*.attention.dense.weight"},
      stored_name{"layers.*.attention.o.bias", "gpt_neox.layers.*.attention.dense.bias"},
      stored_name{"layers.*.mlp.up.weight", "gpt_neox.layers.*.mlp.dense_h_to_4h.weight"},
      stored_name{"layers.*.mlp.up.bias", "gpt_neox.layers.*.mlp.dense_h_to_4h.bias"},
      stored_name{"layers.*.mlp.down.weight", "gpt_neox.layers.*.mlp.dense_4h_to_h.weight"},
      stored_name{"layers.*.mlp.down.bias", "gpt_neox.layers.*.mlp.dense_4h_to_h.bias"}};
  static constexpr std::array<std::string_view, 4> unread{
      "gpt_neox.layers.*.attention.bias", "gpt_neox.layers.*.attention.masked_bias",
      "gpt_neox.layers.*.attention.rotary_emb.inv_freq", "embed_out.weight"};
  static constexpr std::string_view base = "gpt_neox.";
  static constexpr std::array<std::string_view, 1> heads{"embed_out"};

  /// Returns the table for a model of this config: joined rows alternate from head to head.
  static std::vector<stored_name> names_of(gpt_neox_config const& config) {
    std::vector<stored_name> all(names.begin(), names.end());
    for (stored_name& row : all)
      if (row.parts > 1) row.group = config.width / config.heads;
    return all;
  }
};

}  // namespace redco
