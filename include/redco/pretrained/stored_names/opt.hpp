#pragma once

#include <redco/model/opt.hpp>
#include <redco/model/opt_post_norm.hpp>
#include <redco/model/stored_name.hpp>

#include <array>
#include <string_view>

namespace redco {

/// Table of the names that OPT's tensors have in files. Only pre-norm models have a final norm, and
/// only post-norm models have projections.
struct opt_names {
  static constexpr std::array names{
      stored_name{"embed_tokens.weight", "model.decoder.embed_tokens.weight"},
      stored_name{"embed_positions.weight", "model.decoder.embed_positions.weight"},
      stored_name{"project_in.weight", "model.decoder.project_in.weight"},
      stored_name{"project_out.weight", "model.decoder.project_out.weight"},
      stored_name{"final_layer_norm.weight", "model.decoder.final_layer_norm.weight"},
      stored_name{"final_layer_norm.bias", "model.decoder.final_layer_norm.bias"},
      stored_name{"layers.*.self_attn_layer_norm.weight", "model.decoder.layers.*.self_attn_layer_norm.weight"},
      stored_name{"layers.*.self_attn_layer_norm.bias", "model.decoder.layers.*.self_attn_layer_norm.bias"},
      stored_name{"layers.*.final_layer_norm.weight", "model.decoder.layers.*.final_layer_norm.weight"},
      stored_name{"layers.*.final_layer_norm.bias", "model.decoder.layers.*.final_layer_norm.bias"},
      stored_name{"layers.*.fc1.weight", "model.decoder.layers.*.fc1.weight"},
      stored_name{"layers.*.fc1.bias", "model.decoder.layers.*.fc1.bias"},
      stored_name{"layers.*.fc2.weight", "model.decoder.layers.*.fc2.weight"},
      stored_name{"layers.*.fc2.bias", "model.decoder.layers.*.fc2.bias"},
      stored_name{"layers.*.self_attn.q.weight", "model.decoder.layers.*.self_attn.q_proj.weight"},
      stored_name{"layers.*.self_attn.q.bias", "model.decoder.layers.*.self_attn.q_proj.bias"},
      stored_name{"layers.*.self_attn.k.weight", "model.decoder.layers.*.self_attn.k_proj.weight"},
      stored_name{"layers.*.self_attn.k.bias", "model.decoder.layers.*.self_attn.k_proj.bias"},
      stored_name{"layers.*.self_attn.v.weight", "model.decoder.layers.*.self_attn.v_proj.weight"},
      stored_name{"layers.*.self_attn.v.bias", "model.decoder.layers.*.self_attn.v_proj.bias"},
      stored_name{"layers.*.self_attn.o.weight", "model.decoder.layers.*.self_attn.out_proj.weight"},
      stored_name{"layers.*.self_attn.o.bias", "model.decoder.layers.*.self_attn.out_proj.bias"}};
  static constexpr std::array<std::string_view, 2> unread{"lm_head.weight", "model.decoder.version"};
  static constexpr std::string_view base = "model.";
};

template <>
struct stored_names<opt> : opt_names {};
template <>
struct stored_names<opt_post_norm> : opt_names {};

}  // namespace redco
