#pragma once

#include <redco/model/from_config/common_keys.hpp>
#include <redco/model/from_config/config_reader.hpp>
#include <redco/model/t5.hpp>
#include <redco/model/t5_gated.hpp>

#include <cstdint>
#include <string_view>

namespace redco {

/// T5 as a config.json names it.
struct t5_from_config {
  static constexpr std::string_view name = "t5";

  /// Calls `use` with the model: gated and untied as in v1.1, or with ReLU and a tied head.
  template <class Use>
  static auto read(config_reader& c, Use&& use) {
    read_common_keys(c, "T5ForConditionalGeneration", true);
    json_value const* const kind = c.find("feed_forward_proj");
    bool const gated = kind != nullptr && *kind == "gated-gelu";
    if (!gated) {
      c.only("feed_forward_proj", "relu");
      c.only("tie_word_embeddings", true);
    }
    c.only("is_gated_act", gated);
    c.only("dense_act_fn", gated ? "gelu_new" : "relu");
    c.only("initializer_factor", 1.0);
    c.skip({"n_positions", "classifier_dropout", "scale_decoder_outputs", "tie_word_embeddings"});
    t5 plain;
    t5_gated with_gate;
    read_sizes(c, plain.config);
    read_sizes(c, with_gate.config);
    c.finish();
    return gated ? use(with_gate) : use(plain);
  }

 private:
  template <class Config>
  static void read_sizes(config_reader& c, Config& g) {
    g.vocab = c.extent({"vocab_size"});
    g.width = c.extent({"d_model", "hidden_size"});
    g.ffn = c.extent({"d_ff"});
    g.heads = c.extent({"num_heads", "num_attention_heads"});
    g.head_dim = c.extent({"d_kv"});
    g.layers = c.extent({"num_layers", "num_hidden_layers"});
    g.decoder_layers = c.extent({"num_decoder_layers"}, g.layers);
    g.buckets = c.extent({"relative_attention_num_buckets"}, 32);
    g.farthest = c.extent({"relative_attention_max_distance"}, 128);
    g.norm_epsilon = c.real("layer_norm_epsilon", 1e-6, 1e-30, 1);
    g.dropout = c.real("dropout_rate", 0.1, 0, 0.999);
    if (g.head_dim > config_reader::most / g.heads) c.refuse("the heads have too many features; correct \"d_kv\"");
  }
};

}  // namespace redco
