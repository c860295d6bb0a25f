#pragma once

#include <redco/pretrained/from_config/common_keys.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/model/gpt2.hpp>

#include <string_view>

namespace redco {

/// GPT-2 as a config.json names it.
struct gpt2_from_config {
  static constexpr std::string_view name = "gpt2";

  /// Calls `use` with the model.
  template <class Use>
  static auto read(config_reader& c, Use&& use) {
    read_common_keys(c, "GPT2LMHeadModel");
    gpt2 model;
    gpt2_config& g = model.config;
    g.vocab = c.extent({"vocab_size"});
    g.context = c.extent({"n_positions", "n_ctx", "max_position_embeddings"});
    g.width = c.extent({"n_embd", "hidden_size"});
    g.heads = c.extent({"n_head", "num_attention_heads"});
    g.layers = c.extent({"n_layer", "num_hidden_layers"});
    g.dropout = read_one_dropout(c, {"resid_pdrop", "embd_pdrop", "attn_pdrop"}, 0.1);
    g.inner = c.extent({"n_inner"}, 0);
    g.activation = read_activation(c, "activation_function", g.activation);
    g.norm_epsilon = c.real("layer_norm_epsilon", 1e-5, 1e-30, 1);
    g.deviation = read_deviation(c);
    check_heads(c, g.width, g.heads);
    c.only("tie_word_embeddings", true);
    c.only("scale_attn_weights", true);
    c.only("scale_attn_by_inverse_layer_idx", false);
    c.skip({"reorder_and_upcast_attn", "summary_activation", "summary_first_dropout", "summary_proj_to_labels",
            "summary_type", "summary_use_proj"});
    c.finish();
    return use(model);
  }
};

}  // namespace redco
