#pragma once

#include <redco/pretrained/from_config/common_keys.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/rotary_keys.hpp>
#include <redco/pretrained/from_config/swiglu_keys.hpp>
#include <redco/model/gemma.hpp>
#include <redco/model/llama.hpp>
#include <redco/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace redco::pretrained::detail {

/// Returns a bound of values from a config.json: `standard` if the key is absent, 0 if its value
/// says nothing.
inline double read_soft_cap(config_reader& c, std::string_view key, double standard) {
  if (!c.names(key)) return standard;
  return c.find_stated(key) == nullptr ? 0 : c.real(key, 0, 1e-6, 1e6);
}

/// Reads from a config.json which blocks have no sliding window: the key `layer_types`, or else
/// every block whose number, counted from 1, is a multiple of `period`.
inline layers::block_set read_full_blocks(config_reader& c, std::int64_t count, std::int64_t period) {
  if (count > layers::block_set::capacity)
    c.refuse(std::to_string(count) + " layers are not supported; at most " +
             std::to_string(layers::block_set::capacity) + " are");
  json::json_value const* const types = c.find_stated("layer_types");
  if (types == nullptr) return models::every_block(period);
  if (!types->is_array() || types->size() != static_cast<std::size_t>(count))
    c.refuse(c.is("layer_types", *types) + "; write one type for each of " + std::to_string(count) + " layers");
  layers::block_set full;
  for (std::int64_t i = 0; i < count; ++i)
    if (!is_sliding(c, (*types)[static_cast<std::size_t>(i)])) full.add(i);
  return full;
}

/// Reads the keys of a config.json that Gemma 2 and Gemma 3 share, except those of rotary
/// positions. Absent keys keep the values of `g`. `period`: see read_full_blocks.
inline void read_gemma_keys(config_reader& c, models::gemma_config& g, known_classes const& classes,
                            std::int64_t period) {
  read_common_keys(c, classes);
  read_decoder_sizes(c, g);
  g.kv_heads = c.extent({"num_key_value_heads"}, g.kv_heads);
  check_decoder_sizes(c, g, g.head_dim);
  g.full_blocks = read_full_blocks(c, g.layers, period);
  g.window = c.extent_or_none("sliding_window", g.window);
  for (std::int64_t i = 0; i < g.layers; ++i)
    if (g.window == 0 && !g.full_blocks.has(i))
      c.refuse("\"sliding_window\" is null, but layer " + std::to_string(i) + " has a sliding window; write its size");
  g.query_scalar = c.real("query_pre_attn_scalar", g.query_scalar, 1e-6, 1e12);
  g.logit_cap = read_soft_cap(c, "final_logit_softcapping", g.logit_cap);
  g.attention_bias = c.flag("attention_bias", false);
  g.activation = read_activation(c, "hidden_activation", g.activation);
  if (read_activation(c, "hidden_act", g.activation) != g.activation)
    c.refuse("\"hidden_act\" and \"hidden_activation\" name two functions; remove the wrong one");
  g.deviation = read_deviation(c);
  g.tied = c.flag("tie_word_embeddings", g.tied);
  c.only("use_bidirectional_attention", false);
  c.skip({"_sliding_window_pattern", "sliding_window_size"});
}

}  // namespace redco::pretrained::detail

namespace redco::pretrained {

/// A reader that makes a Gemma 2 model from the keys of a config.json.
struct gemma2_from_config {
  static constexpr std::string_view name = "gemma2";

  static models::gemma read(config_reader& c) {
    models::gemma model;
    models::gemma_config& g = model.config;
    detail::read_gemma_keys(c, g, {"Gemma2ForCausalLM", {}, {"Gemma2Model"}}, 2);
    g.score_cap = detail::read_soft_cap(c, "attn_logit_softcapping", g.score_cap);
    models::llama_config angles{.context = g.context};
    read_rotary_keys(c, angles, g.head_dim);
    g.theta = g.local_theta = angles.theta;
    g.scaling = g.local_scaling = angles.scaling;
    c.finish();
    return model;
  }
};

/// A reader that makes a Gemma 3 model of texts from the keys of a config.json.
struct gemma3_from_config {
  static constexpr std::string_view name = "gemma3_text";

  static models::gemma read(config_reader& c) {
    models::gemma model{
        {.vocab = 262208, .context = 131072, .theta = 1000000, .score_cap = 0, .logit_cap = 0, .query_key_norm = true}};
    models::gemma_config& g = model.config;
    detail::read_gemma_keys(c, g, {"Gemma3ForCausalLM", {}, {"Gemma3TextModel"}},
                            c.extent({"sliding_window_pattern"}, 6));
    c.only("attn_logit_softcapping", nullptr);
    json::json_value const* const parameters = c.find_stated("rope_parameters");
    json::json_value const none = json::json_value::object();
    config_reader by_kind(parameters != nullptr ? *parameters : none, c.source() + ": rope_parameters");
    read_angles(c, by_kind, {"full_attention", "rope_theta", "rope_scaling"}, g, g.theta, g.scaling);
    read_angles(c, by_kind, {"sliding_attention", "rope_local_base_freq", ""}, g, g.local_theta, g.local_scaling);
    by_kind.refuse_unknown();
    c.finish();
    return model;
  }

 private:
  /// Keys of the rotary positions of one kind of blocks: the name of the kind under
  /// "rope_parameters", and the keys of older files for the base and the scaling.
  struct angle_keys {
    std::string_view kind, theta, scaling;
  };

  static void read_angles(config_reader& c, config_reader& by_kind, angle_keys const& keys,
                          models::gemma_config const& g, double& theta, layers::rotary_scaling& scaling) {
    json::json_value object = json::json_value::object();
    auto const copy = [&](json::json_value const* value, char const* name) {
      if (value != nullptr) object[name] = *value;
    };
    copy(c.find(keys.theta), "rope_theta");
    if (!keys.scaling.empty()) copy(c.find(keys.scaling), "rope_scaling");
    copy(by_kind.find(keys.kind), "rope_parameters");
    config_reader own(object, c.source() + ": " + std::string(keys.kind));
    models::llama_config angles{.context = g.context, .theta = theta};
    read_rotary_keys(own, angles, g.head_dim);
    theta = angles.theta;
    scaling = angles.scaling;
  }
};

}  // namespace redco::pretrained
