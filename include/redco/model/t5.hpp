#pragma once

#include <redco/layer/activation.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/initialised.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/square_root.hpp>

#include <redco/model/stored_name.hpp>
#include <redco/model/t5_net.hpp>

#include <cstdint>

namespace redco::models {

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

}  // namespace redco::models
