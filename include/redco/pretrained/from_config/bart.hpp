#pragma once

#include <redco/pretrained/from_config/common_keys.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/model/bart.hpp>

#include <string_view>

namespace redco::pretrained {

/// A reader that makes a BART model from the keys of a config.json.
struct bart_from_config {
  static constexpr std::string_view name = "bart";

  static bart read(config_reader& c) {
    read_common_keys(c, {"BartForConditionalGeneration", {}, {"BartModel"}}, true);
    bart model;
    models::bart_config& g = model.config;
    g.vocab = c.extent({"vocab_size"}, g.vocab);
    g.context = c.extent({"max_position_embeddings"}, g.context);
    g.width = c.extent({"d_model", "hidden_size"}, g.width);
    g.ffn = c.extent({"encoder_ffn_dim"}, g.ffn);
    g.decoder_ffn = c.extent({"decoder_ffn_dim"}, g.decoder_ffn);
    g.heads = c.extent({"encoder_attention_heads", "num_attention_heads"}, g.heads);
    g.decoder_heads = c.extent({"decoder_attention_heads"}, g.decoder_heads);
    g.layers = c.extent({"encoder_layers", "num_hidden_layers"}, g.layers);
    g.decoder_layers = c.extent({"decoder_layers"}, g.decoder_layers);
    g.padding = c.integer({"pad_token_id"}, c.names("pad_token_id") ? -1 : 1, -1);
    g.scale_embedding = c.flag("scale_embedding", false);
    g.dropout = c.real("dropout", 0.1, 0, 0.999);
    g.activation_dropout = c.real("activation_dropout", 0, 0, 0.999);
    g.attention_dropout = c.real("attention_dropout", 0, 0, 0.999);
    check_heads(c, g.width, g.heads);
    check_heads(c, g.width, g.decoder_heads);
    if (g.padding >= g.vocab) c.refuse("\"pad_token_id\" is outside the vocabulary; correct one of them");
    g.activation = read_activation(c, "activation_function", g.activation);
    c.only("encoder_layerdrop", 0.0);
    c.only("decoder_layerdrop", 0.0);
    g.deviation = read_deviation(c, "init_std");
    c.only("normalize_before", false);
    c.only("add_final_layer_norm", false);
    c.only("normalize_embedding", true);
    c.only("add_bias_logits", false);
    c.only("static_position_embeddings", false);
    c.only("tie_word_embeddings", true);
    c.only("extra_pos_embeddings", 2);
    c.skip({"classifier_dropout", "classif_dropout"});
    c.finish();
    return model;
  }
};

}  // namespace redco::pretrained
