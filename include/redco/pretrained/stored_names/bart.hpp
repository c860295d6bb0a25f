#pragma once

#include <redco/model/bart.hpp>
#include <redco/model/stored_name.hpp>

#include <array>
#include <string_view>

namespace redco {

template <>
struct models::stored_names<bart> {
  static constexpr std::array names{
      models::stored_name{"encoder.embed_tokens.weight", "model.shared.weight"},
      models::stored_name{.ours = "final_logits.bias", .theirs = "final_logits_bias", .ones = 1, .zero = true},
      models::stored_name{"encoder.embed_positions.weight", "model.encoder.embed_positions.weight"},
      models::stored_name{"encoder.layernorm_embedding.weight", "model.encoder.layernorm_embedding.weight"},
      models::stored_name{"encoder.layernorm_embedding.bias", "model.encoder.layernorm_embedding.bias"},
      models::stored_name{"encoder.layers.*.self_attn.q.weight", "model.encoder.layers.*.self_attn.q_proj.weight"},
      models::stored_name{"encoder.layers.*.self_attn.q.bias", "model.encoder.layers.*.self_attn.q_proj.bias"},
      models::stored_name{"encoder.layers.*.self_attn.k.weight", "model.encoder.layers.*.self_attn.k_proj.weight"},
      models::stored_name{"encoder.layers.*.self_attn.k.bias", "model.encoder.layers.*.self_attn.k_proj.bias"},
      models::stored_name{"encoder.layers.*.self_attn.v.weight", "model.encoder.layers.*.self_attn.v_proj.weight"},
      models::stored_name{"encoder.layers.*.self_attn.v.bias", "model.encoder.layers.*.self_attn.v_proj.bias"},
      models::stored_name{"encoder.layers.*.self_attn.o.weight", "model.encoder.layers.*.self_attn.out_proj.weight"},
      models::stored_name{"encoder.layers.*.self_attn.o.bias", "model.encoder.layers.*.self_attn.out_proj.bias"},
      models::stored_name{"encoder.layers.*.self_attn_layer_norm.weight",
                          "model.encoder.layers.*.self_attn_layer_norm.weight"},
      models::stored_name{"encoder.layers.*.self_attn_layer_norm.bias",
                          "model.encoder.layers.*.self_attn_layer_norm.bias"},
      models::stored_name{"encoder.layers.*.fc1.weight", "model.encoder.layers.*.fc1.weight"},
      models::stored_name{"encoder.layers.*.fc1.bias", "model.encoder.layers.*.fc1.bias"},
      models::stored_name{"encoder.layers.*.fc2.weight", "model.encoder.layers.*.fc2.weight"},
      models::stored_name{"encoder.layers.*.fc2.bias", "model.encoder.layers.*.fc2.bias"},
      models::stored_name{"encoder.layers.*.final_layer_norm.weight", "model.encoder.layers.*.final_layer_norm.weight"},
      models::stored_name{"encoder.layers.*.final_layer_norm.bias", "model.encoder.layers.*.final_layer_norm.bias"},
      models::stored_name{"decoder.embed_positions.weight", "model.decoder.embed_positions.weight"},
      models::stored_name{"decoder.layernorm_embedding.weight", "model.decoder.layernorm_embedding.weight"},
      models::stored_name{"decoder.layernorm_embedding.bias", "model.decoder.layernorm_embedding.bias"},
      models::stored_name{"decoder.layers.*.self_attn.q.weight", "model.decoder.layers.*.self_attn.q_proj.weight"},
      models::stored_name{"decoder.layers.*.self_attn.q.bias", "model.decoder.layers.*.self_attn.q_proj.bias"},
      models::stored_name{"decoder.layers.*.self_attn.k.weight", "model.decoder.layers.*.self_attn.k_proj.weight"},
      models::stored_name{"decoder.layers.*.self_attn.k.bias", "model.decoder.layers.*.self_attn.k_proj.bias"},
      models::stored_name{"decoder.layers.*.self_attn.v.weight", "model.decoder.layers.*.self_attn.v_proj.weight"},
      models::stored_name{"decoder.layers.*.self_attn.v.bias", "model.decoder.layers.*.self_attn.v_proj.bias"},
      models::stored_name{"decoder.layers.*.self_attn.o.weight", "model.decoder.layers.*.self_attn.out_proj.weight"},
      models::stored_name{"decoder.layers.*.self_attn.o.bias", "model.decoder.layers.*.self_attn.out_proj.bias"},
      models::stored_name{"decoder.layers.*.self_attn_layer_norm.weight",
                          "model.decoder.layers.*.self_attn_layer_norm.weight"},
      models::stored_name{"decoder.layers.*.self_attn_layer_norm.bias",
                          "model.decoder.layers.*.self_attn_layer_norm.bias"},
      models::stored_name{"decoder.layers.*.encoder_attn.q.weight",
                          "model.decoder.layers.*.encoder_attn.q_proj.weight"},
      models::stored_name{"decoder.layers.*.encoder_attn.q.bias", "model.decoder.layers.*.encoder_attn.q_proj.bias"},
      models::stored_name{"decoder.layers.*.encoder_attn.k.weight",
                          "model.decoder.layers.*.encoder_attn.k_proj.weight"},
      models::stored_name{"decoder.layers.*.encoder_attn.k.bias", "model.decoder.layers.*.encoder_attn.k_proj.bias"},
      models::stored_name{"decoder.layers.*.encoder_attn.v.weight",
                          "model.decoder.layers.*.encoder_attn.v_proj.weight"},
      models::stored_name{"decoder.layers.*.encoder_attn.v.bias", "model.decoder.layers.*.encoder_attn.v_proj.bias"},
      models::stored_name{"decoder.layers.*.encoder_attn.o.weight",
                          "model.decoder.layers.*.encoder_attn.out_proj.weight"},
      models::stored_name{"decoder.layers.*.encoder_attn.o.bias", "model.decoder.layers.*.encoder_attn.out_proj.bias"},
      models::stored_name{"decoder.layers.*.encoder_attn_layer_norm.weight",
                          "model.decoder.layers.*.encoder_attn_layer_norm.weight"},
      models::stored_name{"decoder.layers.*.encoder_attn_layer_norm.bias",
                          "model.decoder.layers.*.encoder_attn_layer_norm.bias"},
      models::stored_name{"decoder.layers.*.fc1.weight", "model.decoder.layers.*.fc1.weight"},
      models::stored_name{"decoder.layers.*.fc1.bias", "model.decoder.layers.*.fc1.bias"},
      models::stored_name{"decoder.layers.*.fc2.weight", "model.decoder.layers.*.fc2.weight"},
      models::stored_name{"decoder.layers.*.fc2.bias", "model.decoder.layers.*.fc2.bias"},
      models::stored_name{"decoder.layers.*.final_layer_norm.weight", "model.decoder.layers.*.final_layer_norm.weight"},
      models::stored_name{"decoder.layers.*.final_layer_norm.bias", "model.decoder.layers.*.final_layer_norm.bias"}};
  static constexpr std::array<std::string_view, 5> unread{"lm_head.weight", "model.encoder.embed_tokens.weight",
                                                          "model.decoder.embed_tokens.weight", "model.encoder.version",
                                                          "model.decoder.version"};
  static constexpr std::string_view base = "model.";
};

}  // namespace redco
