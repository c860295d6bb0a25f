#pragma once

#include <redco/pretrained/from_config/common_keys.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/model/gptj.hpp>

#include <string_view>

namespace redco {

/// GPT-J as a config.json names it.
struct gptj_from_config {
  static constexpr std::string_view name = "gptj";

  /// Calls `use` with the model.
  template <class Use>
  static auto read(config_reader& c, Use&& use) {
    read_common_keys(c, "GPTJForCausalLM");
    gptj model;
    gptj_config& g = model.config;
    g.vocab = c.extent({"vocab_size"});
    g.context = c.extent({"n_positions", "n_ctx", "max_position_embeddings"});
    g.width = c.extent({"n_embd", "hidden_size"});
    g.heads = c.extent({"n_head", "num_attention_heads"});
    g.layers = c.extent({"n_layer", "num_hidden_layers"});
    g.dropout = read_one_dropout(c, {"resid_pdrop", "embd_pdrop", "attn_pdrop"}, 0);
    check_heads(c, g.width, g.heads);
    g.rotary_dim = c.extent({"rotary_dim"}, c.names("rotary_dim") ? g.width / g.heads : g.rotary_dim);
    if (g.rotary_dim % 2 != 0 || g.rotary_dim > g.width / g.heads)
      c.refuse(c.is("rotary_dim", g.rotary_dim) + "; write an even number up to the features of a head");
    g.inner = c.extent({"n_inner"}, 0);
    g.activation = read_activation(c, "activation_function", g.activation);
    g.norm_epsilon = c.real("layer_norm_epsilon", 1e-5, 1e-30, 1);
    g.deviation = read_deviation(c);
    c.only("tie_word_embeddings", false);
    c.only("rotary", true);
    c.only("scale_attn_weights", true);
    c.skip({"gradient_checkpointing", "summary_activation", "summary_first_dropout", "summary_proj_to_labels",
            "summary_type", "summary_use_proj"});
    c.finish();
    return use(model);
  }
};

}  // namespace redco
