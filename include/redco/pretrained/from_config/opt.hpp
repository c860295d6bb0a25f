#pragma once

#include <redco/pretrained/from_config/common_keys.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/model/opt.hpp>

#include <cstdint>
#include <string_view>
#include <variant>

namespace redco::pretrained {

/// A reader that makes an OPT model from the keys of a config.json.
struct opt_from_config {
  static constexpr std::string_view name = "opt";

  /// Returns the OPT model that a config.json describes: post-norm if the key do_layer_norm_before
  /// is false (OPT-350M), otherwise pre-norm.
  static std::variant<opt, models::opt_post_norm> read(config_reader& c) {
    opt before;
    models::opt_post_norm after;
    read_sizes(c, before.config);
    read_sizes(c, after.config);
    after.config.embedding_width = c.extent({"word_embed_proj_dim"}, after.config.width);
    bool const pre_norm = c.flag("do_layer_norm_before", true);
    c.finish();
    if (!pre_norm) return after;
    if (after.config.embedding_width != before.config.width)
      c.refuse(
          "\"word_embed_proj_dim\" is not the width, which is not supported with norms before layers; make them equal");
    return before;
  }

 private:
  template <class Config>
  static void read_sizes(config_reader& c, Config& g) {
    read_common_keys(c, {"OPTForCausalLM", {}, {"OPTModel"}});
    g.vocab = c.extent({"vocab_size"}, g.vocab);
    g.context = c.extent({"max_position_embeddings"}, g.context);
    g.width = c.extent({"hidden_size"}, 768);
    g.ffn = c.extent({"ffn_dim"}, 3072);
    g.heads = c.extent({"num_attention_heads"}, 12);
    g.layers = c.extent({"num_hidden_layers"}, 12);
    g.padding = c.integer({"pad_token_id"}, c.names("pad_token_id") ? -1 : 1, -1);
    g.dropout = c.real("dropout", 0.1, 0, 0.999);
    g.attention_dropout = c.real("attention_dropout", 0, 0, 0.999);
    check_heads(c, g.width, g.heads);
    if (g.padding >= g.vocab) c.refuse("\"pad_token_id\" is outside the vocabulary; correct one of them");
    g.activation = read_activation(c, "activation_function", g.activation);
    c.only("activation_dropout", 0.0);
    c.only("layerdrop", 0.0);
    g.deviation = read_deviation(c, "init_std");
    c.only("enable_bias", true);
    c.only("layer_norm_elementwise_affine", true);
    c.only("_remove_final_layer_norm", false);
    c.only("tie_word_embeddings", true);
    // Galactica has these keys. The class in transformers does not read them.
    c.skip({"learned_embeddings", "scale_embeddings"});
  }
};

}  // namespace redco::pretrained
