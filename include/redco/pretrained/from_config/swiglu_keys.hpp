#pragma once

#include <redco/pretrained/from_config/common_keys.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/model/llama.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace redco::pretrained {

/// Scaling of the angles of rotary positions that a model family supports: none, or the rule
/// "llama3".
enum class rotary_stretch : unsigned char { none, llama3 };

/// Reads the keys of rotary positions from a config.json, at the top level or in a nested object.
/// The scaling factors are required. If the context length of pre-training is absent, uses
/// `g.context`.
inline void read_rotary_keys(config_reader& c, models::llama_config& g, rotary_stretch known) {
  double& theta = g.theta;
  double const largest = 1e12;
  theta = c.real("rope_theta", theta, 1, largest);
  bool const outside = c.find("rope_theta") != nullptr;
  json::json_value const* const parameters = c.find("rope_parameters");
  json::json_value const* const older = c.find("rope_scaling");
  if (parameters != nullptr && older != nullptr)
    c.refuse("\"rope_parameters\" and \"rope_scaling\" say the same of a model; remove the wrong one");
  if (parameters == nullptr && older == nullptr) return;
  config_reader inner(parameters != nullptr ? *parameters : *older,
                      c.source() + (parameters != nullptr ? ": rope_parameters" : ": rope_scaling"));
  double const named = inner.real("rope_theta", theta, 1, largest);
  if (outside && named != theta) c.refuse("two different \"rope_theta\" are given; remove the wrong one");
  theta = named;
  json::json_value const* kind = inner.find("rope_type");
  if (json::json_value const* const old_name = inner.find("type"); kind == nullptr) kind = old_name;
  if (kind != nullptr && *kind != "default") {
    if (known == rotary_stretch::none || *kind != "llama3")
      inner.refuse(inner.is("rope_type", *kind) + ", which is not supported; only \"default\"" +
                   (known == rotary_stretch::none ? " is" : " and \"llama3\" are"));
    auto const factor = [&](std::string_view name, double least) {
      if (inner.find(name) == nullptr)
        inner.refuse("\"" + std::string(name) + "\" is missing, without which angles cannot be stretched; add it");
      return inner.real(name, 0, least, 1e6);
    };
    g.scaling.factor = factor("factor", 1);
    g.scaling.low_frequency = factor("low_freq_factor", 1e-6);
    g.scaling.high_frequency = factor("high_freq_factor", 1e-6);
    g.scaling.context = inner.extent({"original_max_position_embeddings"}, g.context);
  }
  inner.only("partial_rotary_factor", 1.0);
  inner.finish();
}

/// Reads the keys of a config.json that LLaMA, Mistral and Qwen share. Sizes that are absent keep
/// the values of `g`. If the number of key-value heads is null, or absent with `g.kv_heads` = 0, it
/// equals the number of heads.
inline void read_swiglu_keys(config_reader& c, models::llama_config& g, known_classes const& classes,
                             rotary_stretch known = rotary_stretch::none) {
  read_common_keys(c, classes);
  g.vocab = c.extent({"vocab_size"}, g.vocab);
  g.context = c.extent({"max_position_embeddings"}, g.context);
  g.width = c.extent({"hidden_size"}, g.width);
  g.ffn = c.extent({"intermediate_size"}, g.ffn);
  g.heads = c.extent({"num_attention_heads"}, g.heads);
  g.kv_heads =
      c.extent({"num_key_value_heads"}, g.kv_heads == 0 || c.names("num_key_value_heads") ? g.heads : g.kv_heads);
  g.head_dim = c.extent({"head_dim"}, g.head_dim);
  g.layers = c.extent({"num_hidden_layers"}, g.layers);
  g.norm_epsilon = c.real("rms_norm_eps", 1e-6, 1e-30, 1);
  g.padding = c.integer({"pad_token_id"}, -1, -1);
  g.attention_dropout = c.real("attention_dropout", 0, 0, 0.999);
  read_rotary_keys(c, g, known);
  if (g.head_dim == 0) check_heads(c, g.width, g.heads);
  std::int64_t const dim = g.head_dim > 0 ? g.head_dim : g.width / g.heads;
  if (dim % 2 != 0)
    c.refuse("heads have " + std::to_string(dim) + " features, which rotary positions cannot pair; make them even");
  if (dim > config_reader::most / g.heads)
    c.refuse(std::to_string(g.heads) + " heads of " + std::to_string(dim) +
             " features are too many; correct one of them");
  if (g.kv_heads > g.heads || g.heads % g.kv_heads != 0)
    c.refuse(std::to_string(g.heads) + " heads are not divisible by " + std::to_string(g.kv_heads) +
             " key-value heads; correct one of them");
  if (g.padding >= g.vocab) c.refuse("\"pad_token_id\" is outside the vocabulary; correct one of them");
  g.activation = read_activation(c, "hidden_act", g.activation);
  g.deviation = read_deviation(c);
  g.tied = c.flag("tie_word_embeddings", false);
  c.only("partial_rotary_factor", 1.0);
}

/// Returns the attention window of a Qwen model in tokens, or 0 without a window. The key
/// `layer_types`, or else `max_window_layers`, selects the layers with a window. Throws `error`
/// with exit code 65 if only some of the layers have a window.
inline std::int64_t read_qwen_window(config_reader& c, std::int64_t layers) {
  bool const used = c.flag("use_sliding_window", false);
  std::int64_t const window = c.extent({"sliding_window"}, 4096), whole = c.integer({"max_window_layers"}, 28, 0);
  std::int64_t sliding = used ? std::max<std::int64_t>(layers - whole, 0) : 0;
  if (json::json_value const* const types = c.find("layer_types"); types != nullptr) {
    sliding = 0;
    for (json::json_value const& one : *types) {
      if (one != "full_attention" && one != "sliding_attention")
        c.refuse(c.is("layer_types", one) +
                 ", which is not supported; \"full_attention\" and \"sliding_attention\" are");
      sliding += one == "sliding_attention";
    }
  }
  if (sliding != 0 && sliding != layers)
    c.refuse(
        "a sliding window in some layers only is not supported; set \"use_sliding_window\" to false, or "
        "\"max_window_layers\" to 0");
  return sliding == 0 ? 0 : window;
}

}  // namespace redco::pretrained
