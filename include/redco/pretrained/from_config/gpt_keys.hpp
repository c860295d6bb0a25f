#pragma once

#include <redco/pretrained/from_config/common_keys.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>

namespace redco::pretrained {

/// Reads the keys of a config.json that GPT-2 and GPT-J share. `dropout` is the default dropout
/// probability.
template <class Config>
void read_gpt_keys(config_reader& c, Config& g, known_classes const& known, double dropout) {
  read_common_keys(c, known);
  g.vocab = c.extent({"vocab_size"}, g.vocab);
  g.context = c.extent({"n_positions", "n_ctx", "max_position_embeddings"}, g.context);
  g.width = c.extent({"n_embd", "hidden_size"}, g.width);
  g.heads = c.extent({"n_head", "num_attention_heads"}, g.heads);
  g.layers = c.extent({"n_layer", "num_hidden_layers"}, g.layers);
  g.inner = c.extent({"n_inner"}, 0);
  g.dropout = read_one_dropout(c, {"resid_pdrop", "embd_pdrop", "attn_pdrop"}, dropout);
  g.activation = read_activation(c, "activation_function", g.activation);
  g.norm_epsilon = c.real("layer_norm_epsilon", 1e-5, 1e-30, 1);
  g.deviation = read_deviation(c);
  check_heads(c, g.width, g.heads);
  c.only("scale_attn_weights", true);
  c.skip({"summary_activation", "summary_first_dropout"});
}

}  // namespace redco::pretrained
