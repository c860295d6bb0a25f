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

/// The sizes and options of a RoBERTa model that classifies sequences; the defaults are those of
/// RoBERTa-large.
struct roberta_config {
  std::int64_t vocab = 50265;
  std::int64_t context = 512;
  std::int64_t token_types = 1;
  std::int64_t width = 1024;
  std::int64_t ffn = 4096;
  std::int64_t heads = 16;
  std::int64_t layers = 24;
  std::int64_t classes = 2;
  /// Token id of padding, which has no position and whose embedding rows get no gradient.
  std::int64_t padding = 1;
  double norm_epsilon = 1e-5;
  /// Dropout probability applied to embeddings, outputs of residual branches and inputs of the
  /// head's linear layers.
  double dropout = 0;
  double attention_dropout = 0;  ///< Dropout probability of attention probabilities
  layers::activation_kind activation = layers::activation_kind::gelu;
  /// Standard deviation of initial weights, drawn from a normal distribution
  double deviation = 0.02;

  constexpr std::int64_t first_position() const { return padding + 1; }
};

}  // namespace redco::models

namespace redco {

/// A RoBERTa model (Liu et al. 2019) that classifies sequences. The encoder is BERT's, but
/// positions count only tokens other than padding, starting at the table row after the padding id.
/// The head, a linear layer with tanh and the classifier, reads the first token. Returns [B,
/// classes]. Initial weights are drawn from a normal distribution.
struct roberta {
  static constexpr auto width = &models::roberta_config::width;
  static constexpr auto classes = &models::roberta_config::classes;
  static constexpr auto drop = &models::roberta_config::dropout;

  using encoder = models::bert_encoder<models::roberta_config, &models::roberta_config::first_position,
                                       layers::tokens_other_than<&models::roberta_config::padding>>;
  using head = sequential<layers::first_token, dropout<drop>, named<"dense", linear<width, width>>, tanh_layer,
                          dropout<drop>, named<"out_proj", linear<width, classes>>>;
  using net =
      layers::initialised<&models::roberta_config::deviation, sequential<encoder::net, named<"classifier", head>>>;

  models::roberta_config config;
};

}  // namespace redco

namespace redco::models {

/// A table of the names of RoBERTa's parameters in Hugging Face files, defined in
/// pretrained/stored_names/roberta.hpp.
template <>
struct stored_names<roberta>;

}  // namespace redco::models
