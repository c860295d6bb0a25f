#pragma once

#include <redco/pretrained/from_config/common_keys.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/rotary_keys.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace redco::pretrained::detail {

/// Reads the keys of a config.json that have the sizes of a decoder, except the number of key-value
/// heads, and its epsilon, padding and attention dropout. Absent keys keep the values of `g`.
template <class Config>
void read_decoder_sizes(config_reader& c, Config& g) {
  g.vocab = c.extent({"vocab_size"}, g.vocab);
  g.context = c.extent({"max_position_embeddings"}, g.context);
  g.width = c.extent({"hidden_size"}, g.width);
  g.ffn = c.extent({"intermediate_size"}, g.ffn);
  g.heads = c.extent({"num_attention_heads"}, g.heads);
  g.head_dim = c.extent({"head_dim"}, g.head_dim);
  g.layers = c.extent({"num_hidden_layers"}, g.layers);
  g.norm_epsilon = c.real("rms_norm_eps", g.norm_epsilon, 1e-30, 1);
  g.padding = c.integer({"pad_token_id"}, c.names("pad_token_id") ? -1 : g.padding, -1);
  g.attention_dropout = c.real("attention_dropout", 0, 0, 0.999);
}

/// Throws `error` with exit code 65 if sizes of a decoder contradict each other. `dim`: features of
/// a head.
template <class Config>
void check_decoder_sizes(config_reader& c, Config const& g, std::int64_t dim) {
  if (dim > config_reader::most / g.heads)
    c.refuse(std::to_string(g.heads) + " heads of " + std::to_string(dim) +
             " features are too many; correct one of them");
  if (g.heads % g.kv_heads != 0)
    c.refuse(std::to_string(g.heads) + " heads are not divisible by " + std::to_string(g.kv_heads) +
             " key-value heads; correct one of them");
  if (g.padding >= g.vocab) c.refuse("\"pad_token_id\" is outside the vocabulary; correct one of them");
}

/// Returns true if `type`, an element of the key "layer_types", names a layer with a sliding
/// window, and false if it names one without. Throws `error` with exit code 65 for other elements.
inline bool is_sliding(config_reader& c, json::json_value const& type) {
  if (type != "full_attention" && type != "sliding_attention")
    c.refuse(c.is("layer_types", type) + ", which is not supported; \"full_attention\" and \"sliding_attention\" are");
  return type == "sliding_attention";
}

/// Returns the number of layers for which the key "layer_types" names a sliding window, or
/// `standard` if the key is absent.
inline std::int64_t count_sliding(config_reader& c, std::int64_t standard) {
  json::json_value const* const types = c.find_stated("layer_types");
  if (types == nullptr) return standard;
  std::int64_t sliding = 0;
  for (json::json_value const& one : *types) sliding += is_sliding(c, one);
  return sliding;
}

/// Reads the key "layer_types" of a model whose layers all have the window `window`; 0: none.
/// Throws `error` with exit code 65 if the key contradicts the window.
inline void check_layer_types(config_reader& c, std::int64_t layers, std::int64_t window) {
  std::int64_t const all = window == 0 ? 0 : layers, sliding = count_sliding(c, all);
  if (sliding != all)
    c.refuse("\"layer_types\" has a sliding window in " + std::to_string(sliding) + " of " + std::to_string(layers) +
             " layers, but this family computes " + (window == 0 ? "none" : "one in every layer") +
             " here; correct \"layer_types\" or \"sliding_window\"");
}

}  // namespace redco::pretrained::detail

namespace redco::pretrained {

/// Reads the keys of a config.json that LLaMA, Mistral and Qwen share. Sizes that are absent keep
/// the values of `g`. If the number of key-value heads is null, or absent with `g.kv_heads` = 0, it
/// equals the number of heads. Returns the number of rotated features of a head.
template <class Config>
std::int64_t read_swiglu_keys(config_reader& c, Config& g, known_classes const& classes,
                              rotary_key_names const& names = {}) {
  read_common_keys(c, classes);
  detail::read_decoder_sizes(c, g);
  g.kv_heads =
      c.extent({"num_key_value_heads"}, g.kv_heads == 0 || c.names("num_key_value_heads") ? g.heads : g.kv_heads);
  if (g.head_dim == 0) check_heads(c, g.width, g.heads);
  std::int64_t const dim = g.head_dim > 0 ? g.head_dim : g.width / g.heads;
  detail::check_decoder_sizes(c, g, dim);
  g.activation = read_activation(c, "hidden_act", g.activation);
  g.deviation = read_deviation(c);
  g.tied = c.flag("tie_word_embeddings", g.tied);
  return read_rotary_keys(c, g, dim, names);
}

/// Returns the attention window of a Qwen model in tokens, or 0 without a window. The key
/// `layer_types`, or else `max_window_layers`, selects the layers with a window. Throws `error`
/// with exit code 65 if only some of the layers have a window.
inline std::int64_t read_qwen_window(config_reader& c, std::int64_t layers) {
  bool const used = c.flag("use_sliding_window", false);
  std::int64_t const window = c.extent_or_none("sliding_window", 4096), whole = c.integer({"max_window_layers"}, 28, 0);
  std::int64_t const sliding =
      detail::count_sliding(c, used && window != 0 ? std::max<std::int64_t>(layers - whole, 0) : 0);
  if (sliding != 0 && window == 0)
    c.refuse("\"layer_types\" has sliding windows, but \"sliding_window\" has no size; write it");
  if (sliding != 0 && sliding != layers)
    c.refuse(
        "a sliding window in some layers only is not supported; set \"use_sliding_window\" to false, or "
        "\"max_window_layers\" to 0");
  return sliding == 0 ? 0 : window;
}

}  // namespace redco::pretrained
