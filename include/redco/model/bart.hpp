#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/layer/encoder_decoder.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

#include <redco/meta/fixed_string.hpp>

#include <cstdint>

namespace redco::models {

/// The sizes and options of a BART model; the defaults are those of BART-large.
struct bart_config {
  std::int64_t vocab = 50265;
  std::int64_t context = 1024;
  std::int64_t width = 1024;
  std::int64_t ffn = 4096;
  std::int64_t decoder_ffn = 4096;
  std::int64_t heads = 16;
  std::int64_t decoder_heads = 16;
  /// Number of encoder blocks; `decoder_layers` is the number of decoder blocks
  std::int64_t layers = 12;
  std::int64_t decoder_layers = 12;
  /// Token id of padding; its embedding row gets no gradient as an input
  std::int64_t padding = 1;
  bool scale_embedding = false;  ///< True to multiply token embeddings by sqrt(width)
  /// Dropout probability applied to embeddings and outputs of residual branches
  double dropout = 0;
  /// Dropout probability after the activation function of the feed-forward layers
  double activation_dropout = 0;
  double attention_dropout = 0;  ///< Dropout probability of attention probabilities
  layers::activation_kind activation = layers::activation_kind::gelu;
  /// Standard deviation of initial weights, drawn from a normal distribution
  double deviation = 0.02;

  constexpr double embedding_factor() const {
    return scale_embedding ? layers::square_root(static_cast<double>(width)) : 1;
  }
};

}  // namespace redco::models

namespace redco {

/// A BART model (Lewis et al. 2020): an encoder-decoder with GELU, whose blocks normalise after
/// each residual connection. Learned positions start at table row 2; a norm follows the sum of
/// token and position embeddings. Encoder, decoder and language head share one token embedding. The
/// head's bias is loaded and not trained. Initial weights are drawn from a normal distribution.
struct bart {
  static constexpr auto vocab = &models::bart_config::vocab;
  static constexpr auto context = &models::bart_config::context;
  static constexpr auto width = &models::bart_config::width;
  static constexpr auto padding = &models::bart_config::padding;
  static constexpr auto factor = &models::bart_config::embedding_factor;
  static constexpr auto drop = &models::bart_config::dropout;
  static constexpr auto inner_drop = &models::bart_config::activation_dropout;
  static constexpr auto attention_drop = &models::bart_config::attention_dropout;

  template <meta::fixed_string Tokens>
  using embeddings =
      sequential<sum<sequential<named<"embed_tokens", embedding<vocab, width, Tokens, padding>>, layers::scale<factor>>,
                     named<"embed_positions", positions<context, width, 2>>>,
                 named<"layernorm_embedding", layer_norm<width>>, dropout<drop>>;
  template <meta::fixed_string Name, meta::fixed_string Norm, layers::attention_kind Kind, auto Heads>
  using attention_part = sequential<
      residual<sequential<named<Name, layers::attention<Kind, width, Heads, layers::attention_dropout<attention_drop>>>,
                          dropout<drop>>>,
      named<Norm, layer_norm<width>>>;
  template <auto Inner>
  using mlp_part = sequential<
      residual<sequential<named<"fc1", linear<width, Inner>>, layers::activation<&models::bart_config::activation>,
                          dropout<inner_drop>, named<"fc2", linear<Inner, width>>, dropout<drop>>>,
      named<"final_layer_norm", layer_norm<width>>>;

  using encoder_block = sequential<
      attention_part<"self_attn", "self_attn_layer_norm", layers::attention_kind::full, &models::bart_config::heads>,
      mlp_part<&models::bart_config::ffn>>;
  using decoder_block = sequential<attention_part<"self_attn", "self_attn_layer_norm", layers::attention_kind::causal,
                                                  &models::bart_config::decoder_heads>,
                                   attention_part<"encoder_attn", "encoder_attn_layer_norm",
                                                  layers::attention_kind::cross, &models::bart_config::decoder_heads>,
                                   mlp_part<&models::bart_config::decoder_ffn>>;
  using encoder = sequential<embeddings<"">, named<"layers", repeat<&models::bart_config::layers, encoder_block>>>;
  using decoder = sequential<embeddings<"encoder.embed_tokens.weight">,
                             named<"layers", repeat<&models::bart_config::decoder_layers, decoder_block>>>;
  using head = named<"final_logits",
                     layers::language_head<vocab, width, "encoder.embed_tokens.weight", layers::head_bias::fixed>>;
  using net =
      layers::initialised<&models::bart_config::deviation, sequential<layers::encoder_decoder<encoder, decoder>, head>>;

  models::bart_config config;
};

}  // namespace redco

namespace redco::models {

/// A table of the names of BART's parameters in Hugging Face files, defined in
/// pretrained/stored_names/bart.hpp.
template <>
struct stored_names<bart>;

}  // namespace redco::models
