#pragma once

#include <redco/pretrained/from_config/common_keys.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/model/gpt2.hpp>

#include <string_view>

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

/// A reader that makes a GPT-2 model from the keys of a config.json.
struct gpt2_from_config {
  static constexpr std::string_view name = "gpt2";

  static gpt2 read(config_reader& c) {
    gpt2 model;
    read_gpt_keys(c, model.config, {"GPT2LMHeadModel", {}, {"GPT2Model"}}, 0.1);
    c.only("tie_word_embeddings", true);
    c.only("scale_attn_by_inverse_layer_idx", false);
    c.skip({"reorder_and_upcast_attn"});
    c.finish();
    return model;
  }
};

}  // namespace redco::pretrained
