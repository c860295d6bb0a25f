#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/layer/encoder_decoder.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/with_distance_bias.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/meta/fixed_string.hpp>

#include <cstdint>

namespace redco::models {

/// The structure of T5 (Raffel et al. 2020) with a given type of feed-forward layer: an
/// encoder-decoder with RMS norms before each residual branch and without biases. Scores lack the
/// factor 1 / sqrt(head_dim). Positions enter only as a bias by distance on the scores, one for all
/// encoder blocks and one for all decoder blocks. Both use one token embedding. A tied head
/// multiplies its input by 1 / sqrt(width).
template <class Config, layer FeedForward>
struct t5_net {
  static constexpr auto vocab = &Config::vocab;
  static constexpr auto width = &Config::width;
  static constexpr auto heads = &Config::heads;
  static constexpr auto buckets = &Config::buckets;
  static constexpr auto farthest = &Config::farthest;
  static constexpr auto epsilon = &Config::norm_epsilon;
  static constexpr auto drop = &Config::dropout;
  static constexpr auto from_width = &Config::from_width;
  static constexpr auto from_query = &Config::from_query;
  static constexpr auto from_heads = &Config::from_heads;

  template <layers::attention_kind Kind, class... Traits>
  using attention = layers::attention<Kind, width, heads, layers::head_dim<&Config::head_dim>, layers::biased<false>,
                                      layers::attention_dropout<drop>, layers::query_deviation<from_query>,
                                      layers::output_deviation<from_heads>, layers::unscaled, Traits...>;
  template <meta::fixed_string Name, layer Branch>
  using branch = residual<
      sequential<named<Name, sequential<named<"layer_norm", rms_norm<width, epsilon>>, Branch>>, dropout<drop>>>;
  using self_attention = branch<"SelfAttention", attention<layers::attention_kind::full, layers::distance_biased>>;
  using causal_self_attention =
      branch<"SelfAttention", attention<layers::attention_kind::causal, layers::distance_biased>>;
  using cross_attention = branch<"EncDecAttention", attention<layers::attention_kind::cross>>;
  using feed_forward = branch<"DenseReluDense", FeedForward>;

  template <layers::attention_kind Kind, auto Layers, meta::fixed_string Tokens, layer Block>
  using stack =
      sequential<named<"embed_tokens", layers::initialised<&Config::deviation, embedding<vocab, width, Tokens>>>,
                 dropout<drop>,
                 layers::with_distance_bias<Kind, heads, buckets, farthest, named<"block", repeat<Layers, Block>>>,
                 named<"final_layer_norm", rms_norm<width, epsilon>>, dropout<drop>>;
  using encoder = stack<layers::attention_kind::full, &Config::layers, "", sequential<self_attention, feed_forward>>;
  using decoder = stack<layers::attention_kind::causal, &Config::decoder_layers, "encoder.embed_tokens.weight",
                        sequential<causal_self_attention, cross_attention, feed_forward>>;
  using table =
      layers::language_head<vocab, width, "encoder.embed_tokens.weight", layers::head_bias::none, &Config::tied>;
  using head =
      sequential<layers::scale<&Config::head_factor>, named<"lm_head", layers::initialised<&Config::deviation, table>>>;
  using net = layers::initialised<from_width, sequential<layers::encoder_decoder<encoder, decoder>, head>>;
};

/// The sizes and options of a T5 model; the defaults are those of T5-11B.
struct t5_config {
  std::int64_t vocab = 32128;
  std::int64_t width = 1024;
  std::int64_t ffn = 65536;
  std::int64_t heads = 128;
  std::int64_t head_dim = 128;
  /// Number of encoder blocks; `decoder_layers` is the number of decoder blocks
  std::int64_t layers = 24;
  std::int64_t decoder_layers = 24;
  /// Number of buckets to which attention's position bias maps distances between tokens
  std::int64_t buckets = 32;
  /// Distance in tokens at which the logarithmic buckets of the position bias end. Larger ones,
  /// and slightly smaller ones, share the last bucket of their direction.
  std::int64_t farthest = 128;
  double norm_epsilon = 1e-6;
  /// Dropout probability applied to embeddings, outputs of residual branches, feed-forward
  /// activations, attention probabilities, and outputs of encoder and decoder.
  double dropout = 0;
  layers::activation_kind activation = layers::activation_kind::relu;
  double deviation = 1;  ///< Factor on the standard deviation of all initial weights
  bool tied = true;      ///< True if the language head uses the token embedding's table

  constexpr double from_width() const { return deviation / layers::square_root(static_cast<double>(width)); }
  constexpr double from_query() const { return deviation / layers::square_root(static_cast<double>(width * head_dim)); }
  constexpr double from_heads() const { return deviation / layers::square_root(static_cast<double>(heads * head_dim)); }
  constexpr double from_ffn() const { return deviation / layers::square_root(static_cast<double>(ffn)); }
  constexpr double head_factor() const { return tied ? 1 / layers::square_root(static_cast<double>(width)) : 1; }
};

}  // namespace redco::models

namespace redco {

/// A T5 model (Raffel et al. 2020) with a ReLU feed-forward. By default the language head is tied
/// to the token embedding. Initial weights are drawn from a normal distribution with standard
/// deviation 1 / sqrt(inputs), or 1 for the token embedding and a separate head.
struct t5 {
  static constexpr auto width = &models::t5_config::width;
  static constexpr auto ffn = &models::t5_config::ffn;
  static constexpr auto from_ffn = &models::t5_config::from_ffn;
  static constexpr auto drop = &models::t5_config::dropout;

  using feed_forward =
      sequential<named<"wi", linear<width, ffn, false>>, layers::activation<&models::t5_config::activation>,
                 dropout<drop>, named<"wo", layers::initialised<from_ffn, linear<ffn, width, false>>>>;
  using net = models::t5_net<models::t5_config, feed_forward>::net;

  models::t5_config config;
};

}  // namespace redco

namespace redco::models {

/// A table of the names of T5's parameters in Hugging Face files, defined in
/// pretrained/stored_names/t5.hpp.
template <>
struct stored_names<t5>;

/// The sizes and options of a T5 model with a gated feed-forward; the defaults are those of
/// T5-v1.1-XXL.
struct t5_gated_config {
  std::int64_t vocab = 32128;
  std::int64_t width = 4096;
  std::int64_t ffn = 10240;
  std::int64_t heads = 64;
  std::int64_t head_dim = 64;
  /// Number of encoder blocks; `decoder_layers` is the number of decoder blocks
  std::int64_t layers = 24;
  std::int64_t decoder_layers = 24;
  /// Number of buckets to which attention's position bias maps distances between tokens
  std::int64_t buckets = 32;
  /// Distance in tokens at which the logarithmic buckets of the position bias end. Larger ones,
  /// and slightly smaller ones, share the last bucket of their direction.
  std::int64_t farthest = 128;
  double norm_epsilon = 1e-6;
  /// Dropout probability applied to embeddings, outputs of residual branches, feed-forward
  /// activations, attention probabilities, and outputs of encoder and decoder.
  double dropout = 0;
  layers::activation_kind activation = layers::activation_kind::gelu_tanh;
  double deviation = 1;  ///< Factor on the standard deviation of all initial weights
  bool tied = false;     ///< True if the language head uses the token embedding's table

  constexpr double from_width() const { return deviation / layers::square_root(static_cast<double>(width)); }
  constexpr double from_query() const { return deviation / layers::square_root(static_cast<double>(width * head_dim)); }
  constexpr double from_heads() const { return deviation / layers::square_root(static_cast<double>(heads * head_dim)); }
  constexpr double from_ffn() const { return deviation / layers::square_root(static_cast<double>(ffn)); }
  constexpr double head_factor() const { return tied ? 1 / layers::square_root(static_cast<double>(width)) : 1; }
};

/// A T5 v1.1 or FLAN-T5 model (Raffel et al. 2020; Shazeer 2020): T5 with a feed-forward gated by
/// tanh-approximated GELU. By default the language head has its own table. Initial weights are
/// drawn from a normal distribution with standard deviation 1 / sqrt(inputs), or 1 for the token
/// embedding and the head.
struct t5_gated {
  static constexpr auto width = &t5_gated_config::width;
  static constexpr auto ffn = &t5_gated_config::ffn;
  static constexpr auto from_ffn = &t5_gated_config::from_ffn;
  static constexpr auto drop = &t5_gated_config::dropout;

  using feed_forward = sequential<gated<width, ffn, layers::activation<&t5_gated_config::activation>>, dropout<drop>,
                                  named<"wo", layers::initialised<from_ffn, linear<ffn, width, false>>>>;
  using net = t5_net<t5_gated_config, feed_forward>::net;

  t5_gated_config config;
};

/// A table of the names of the gated T5's parameters in Hugging Face files, defined in
/// pretrained/stored_names/t5.hpp.
template <>
struct stored_names<t5_gated>;

}  // namespace redco::models
