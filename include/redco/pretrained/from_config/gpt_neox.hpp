#pragma once

#include <redco/pretrained/from_config/common_keys.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/rotary_keys.hpp>
#include <redco/model/gpt_neox.hpp>

#include <string_view>

namespace redco::pretrained {

/// A reader that makes a GPT-NeoX model, such as Pythia, from the keys of a config.json.
struct gpt_neox_from_config {
  static constexpr std::string_view name = "gpt_neox";

  static models::gpt_neox read(config_reader& c) {
    models::gpt_neox model;
    models::gpt_neox_config& g = model.config;
    read_common_keys(c, {"GPTNeoXForCausalLM", {}, {"GPTNeoXModel"}});
    g.vocab = c.extent({"vocab_size"}, g.vocab);
    g.context = c.extent({"max_position_embeddings"}, g.context);
    g.width = c.extent({"hidden_size"}, g.width);
    g.ffn = c.extent({"intermediate_size"}, g.ffn);
    g.heads = c.extent({"num_attention_heads"}, g.heads);
    g.layers = c.extent({"num_hidden_layers"}, g.layers);
    g.norm_epsilon = c.real("layer_norm_eps", g.norm_epsilon, 1e-30, 1);
    g.attention_dropout = c.real("attention_dropout", 0, 0, 0.999);
    g.dropout = c.real("hidden_dropout", 0, 0, 0.999);
    g.activation = read_activation(c, "hidden_act", g.activation);
    g.deviation = read_deviation(c);
    g.parallel = c.flag("use_parallel_residual", g.parallel);
    g.attention_bias = c.flag("attention_bias", g.attention_bias);
    g.tied = c.flag("tie_word_embeddings", g.tied);
    check_heads(c, g.width, g.heads);
    g.rotary_dims = read_rotary_keys(c, g, g.width / g.heads,
                                     {.theta = "rotary_emb_base", .share = "rotary_pct", .standard_share = 0.25});
    c.skip({"classifier_dropout"});
    c.finish();
    return model;
  }
};

}  // namespace redco::pretrained
