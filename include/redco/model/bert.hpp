#pragma once

#include <redco/layer/counted_tokens.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/first_token.hpp>
#include <redco/layer/initialised.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/tanh_layer.hpp>

#include <redco/model/bert_encoder.hpp>
#include <redco/model/stored_name.hpp>

#include <cstdint>

namespace redco::models {

/// The sizes and options of a BERT model that classifies sequences; the defaults are those of
/// BERT-large (uncased).
struct bert_config {
  std::int64_t vocab = 30522;
  std::int64_t context = 512;
  std::int64_t token_types = 2;
  std::int64_t width = 1024;
  std::int64_t ffn = 4096;
  std::int64_t heads = 16;
  std::int64_t layers = 24;
  std::int64_t classes = 2;
  std::int64_t padding = 0;  ///< Token id of padding, whose embedding row gets no gradient
  double norm_epsilon = 1e-12;
  /// Dropout probability applied to embeddings, outputs of residual branches and the classifier's
  /// input.
  double dropout = 0;
  double attention_dropout = 0;  ///< Dropout probability of attention probabilities
  layers::activation_kind activation = layers::activation_kind::gelu;
  /// Standard deviation of initial weights, drawn from a normal distribution
  double deviation = 0.02;
};

}  // namespace redco::models

namespace redco {

/// A BERT model (Devlin et al. 2019) that classifies sequences. The encoder's output for the first
/// token goes through a linear layer with tanh (the pooler), then through the linear classifier.
/// Returns [B, classes]. Initial weights are drawn from a normal distribution.
struct bert {
  static constexpr auto width = &models::bert_config::width;
  static constexpr auto classes = &models::bert_config::classes;
  static constexpr auto drop = &models::bert_config::dropout;

  using encoder = models::bert_encoder<models::bert_config, 0, layers::every_token>;
  using head = sequential<layers::first_token, named<"pooler.dense", linear<width, width>>, tanh_layer, dropout<drop>,
                          named<"classifier", linear<width, classes>>>;
  using net = layers::initialised<&models::bert_config::deviation, sequential<encoder::net, head>>;

  models::bert_config config;
};

}  // namespace redco

namespace redco::models {

/// A table of the names of BERT's parameters in Hugging Face files, defined in
/// pretrained/stored_names/bert.hpp.
template <>
struct stored_names<bert>;

}  // namespace redco::models
