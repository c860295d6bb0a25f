#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

#include <cstdint>

namespace redco::models {

/// The encoder of BERT and RoBERTa. Token, position and token-type embeddings are added and
/// normalised. In the following blocks each token attends to all tokens, and a norm follows each
/// residual connection. Positions count tokens by the rule `Counted` and start at table row
/// `Offset`.
template <class Config, auto Offset, class Counted>
struct bert_encoder {
  static constexpr auto vocab = &Config::vocab;
  static constexpr auto context = &Config::context;
  static constexpr auto types = &Config::token_types;
  static constexpr auto width = &Config::width;
  static constexpr auto ffn = &Config::ffn;
  static constexpr auto heads = &Config::heads;
  static constexpr auto layers = &Config::layers;
  static constexpr auto epsilon = &Config::norm_epsilon;
  static constexpr auto padding = &Config::padding;
  static constexpr auto drop = &Config::dropout;
  static constexpr auto attention_drop = &Config::attention_dropout;

  using norm = named<"LayerNorm", layer_norm<width, epsilon>>;
  using embeddings = sequential<sum<named<"word_embeddings", embedding<vocab, width, "", padding>>,
                                    named<"position_embeddings", positions<context, width, Offset, Counted>>,
                                    named<"token_type_embeddings", layers::token_types<types, width>>>,
                                norm, dropout<drop>>;
  using attention_branch =
      residual<sequential<full_attention<width, heads, layers::attention_dropout<attention_drop>>, dropout<drop>>>;
  using mlp_branch =
      residual<sequential<named<"intermediate", linear<width, ffn>>, layers::activation<&Config::activation>,
                          named<"output", linear<ffn, width>>, dropout<drop>>>;
  using block = sequential<named<"attention", sequential<attention_branch, norm>>, mlp_branch, named<"output", norm>>;
  using net = sequential<named<"embeddings", embeddings>, named<"encoder.layer", repeat<layers, block>>>;
};

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
