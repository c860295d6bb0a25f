#pragma once

#include <redco/pretrained/from_config/common_keys.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/model/t5.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace redco::pretrained {

/// A reader that makes a T5 model from the keys of a config.json.
struct t5_from_config {
  static constexpr std::string_view name = "t5";

  /// Returns the T5 model that a config.json describes, with a plain or a gated (v1.1)
  /// feed-forward. If the head is tied to the embedding, the head's input is scaled. New files
  /// always have tie_word_embeddings = true, so `scale_decoder_outputs` decides if the head is
  /// tied.
  static std::variant<t5, models::t5_gated> read(config_reader& c) {
    read_common_keys(c, {"T5ForConditionalGeneration", {"T5WithLMHeadModel"}, {"T5Model"}}, true);
    feed_forward const kind = read_feed_forward(c);
    bool const named_tied = c.flag("tie_word_embeddings", true), scaled = c.flag("scale_decoder_outputs", named_tied);
    if (scaled && !named_tied)
      c.refuse(
          "\"scale_decoder_outputs\" is true with a head that is not tied, which is not supported; correct one of "
          "them");
    c.skip({"n_positions", "classifier_dropout", "scalable_attention"});
    t5 plain;
    models::t5_gated gated;
    plain.config.activation = gated.config.activation = kind.activation;
    plain.config.tied = gated.config.tied = scaled;
    read_sizes(c, plain.config);
    read_sizes(c, gated.config);
    c.finish();
    if (kind.gated) return gated;
    return plain;
  }

 private:
  struct feed_forward {
    bool gated = false;
    layers::activation_kind activation = layers::activation_kind::relu;
  };

  /// Reads the key "feed_forward_proj" of a config.json: the name of an activation function, or
  /// "gated-" and such a name. "gated-gelu" means the tanh approximation. New files repeat this
  /// information under other keys, which must agree.
  static feed_forward read_feed_forward(config_reader& c) {
    feed_forward f;
    json::json_value const* const value = c.find("feed_forward_proj");
    std::string text = value != nullptr && value->is_string() ? value->get<std::string>() : "relu";
    f.gated = text.starts_with("gated-");
    if (f.gated) text.erase(0, 6);
    json::json_value const named = {{"feed_forward_proj", f.gated && text == "gelu" ? "gelu_new" : text}};
    config_reader inner(named, c.source());
    f.activation = read_activation(inner, "feed_forward_proj", f.activation);
    c.only("is_gated_act", f.gated);
    if (read_activation(c, "dense_act_fn", f.activation) != f.activation)
      c.refuse("\"dense_act_fn\" and \"feed_forward_proj\" name two functions; correct one of them");
    return f;
  }

  template <class Config>
  static void read_sizes(config_reader& c, Config& g) {
    g.vocab = c.extent({"vocab_size"}, 32128);
    g.width = c.extent({"d_model", "hidden_size"}, 512);
    g.ffn = c.extent({"d_ff"}, 2048);
    g.heads = c.extent({"num_heads", "num_attention_heads"}, 8);
    g.head_dim = c.extent({"d_kv"}, 64);
    g.layers = c.extent({"num_layers", "num_hidden_layers"}, 6);
    g.decoder_layers = c.extent({"num_decoder_layers"}, g.layers);
    g.buckets = c.extent({"relative_attention_num_buckets"}, 32);
    g.farthest = c.extent({"relative_attention_max_distance"}, 128);
    g.norm_epsilon = c.real("layer_norm_epsilon", 1e-6, 1e-30, 1);
    g.dropout = c.real("dropout_rate", 0.1, 0, 0.999);
    g.deviation = c.real("initializer_factor", 1, 0, 1e6);
    if (g.head_dim > config_reader::most / g.heads) c.refuse("the heads have too many features; correct \"d_kv\"");
  }
};

}  // namespace redco::pretrained
