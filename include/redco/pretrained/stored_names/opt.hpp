#pragma once

#include <redco/model/opt.hpp>
#include <redco/model/stored_name.hpp>

#include <array>
#include <string_view>

namespace redco::pretrained {

/// Table of the names that OPT's tensors have in files. Only pre-norm models have a final norm, and
/// only post-norm models have projections.
struct opt_names {
  static constexpr std::array names{
      models::stored_name{"embed_tokens.weight", "model.decoder.embed_tokens.weight"},
      models::stored_name{"embed_positions.weight", "model.decoder.embed_positions.weight"},
      models::stored_name{"project_in.weight", "model.decoder.project_in.weight"},
      models::stored_name{"project_out.weight", "model.decoder.project_out.weight"},
      models::stored_name{"final_layer_norm.weight", "model.decoder.final_layer_norm.weight"},
      models::stored_name{"final_layer_norm.bias", "model.decoder.final_layer_norm.bias"},
      models::stored_name{"layers.*.self_attn_layer_norm.weight", "model.decoder.layers.*.self_attn_layer_norm.weight"},
      models::stored_name{"layers.*.self_attn_layer_norm.bias", "model.decoder.layers.*.self_attn_layer_norm.bias"},
      models::stored_name{"layers.*.final_layer_norm.weight", "model.decoder.layers.*.final_layer_norm.weight"},
      models::stored_name{"layers.*.final_layer_norm.bias", "model.decoder.layers.*.final_layer_norm.bias"},
      models::stored_name{"layers.*.fc1.weight", "model.decoder.layers.*.fc1.weight"},
      models::stored_name{"layers.*.fc1.bias", "model.decoder.layers.*.fc1.bias"},
      models::stored_name{"layers.*.fc2.weight", "model.decoder.layers.*.fc2.weight"},
      models::stored_name{"layers.*.fc2.bias", "model.decoder.layers.*.fc2.bias"},
      models::stored_name{"layers.*.self_attn.q.weight", "model.decoder.layers.*.self_attn.q_proj.weight"},
      models::stored_name{"layers.*.self_attn.q.bias", "model.decoder.layers.*.self_attn.q_proj.bias"},
      models::stored_name{"layers.*.self_attn.k.weight", "model.decoder.layers.*.self_attn.k_proj.weight"},
      models::stored_name{"layers.*.self_attn.k.bias", "model.decoder.layers.*.self_attn.k_proj.bias"},
      models::stored_name{"layers.*.self_attn.v.weight", "model.decoder.layers.*.self_attn.v_proj.weight"},
      models::stored_name{"layers.*.self_attn.v.bias", "model.decoder.layers.*.self_attn.v_proj.bias"},
      models::stored_name{"layers.*.self_attn.o.weight", "model.decoder.layers.*.self_attn.out_proj.weight"},
      models::stored_name{"layers.*.self_attn.o.bias", "model.decoder.layers.*.self_attn.out_proj.bias"}};
  static constexpr std::array<std::string_view, 2> unread{"lm_head.weight", "model.decoder.version"};
  static constexpr std::string_view base = "model.";
};

}  // namespace redco::pretrained

namespace redco {

template <>
struct models::stored_names<opt> : pretrained::opt_names {};
template <>
struct models::stored_names<models::opt_post_norm> : pretrained::opt_names {};

}  // namespace redco
