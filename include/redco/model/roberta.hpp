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

namespace redco {

/// The sizes of a RoBERTa that classifies sequences; the defaults are those of RoBERTa-large.
struct roberta_config {
  std::int64_t vocab = 50265;
  std::int64_t context = 512;
  std::int64_t token_types = 1;
  std::int64_t width = 1024;
  std::int64_t ffn = 4096;
  std::int64_t heads = 16;
  std::int64_t layers = 24;
  std::int64_t classes = 2;
  /// Token id that has no position and whose embeddings are not trained.
  std::int64_t padding = 1;
  double norm_epsilon = 1e-5;
  /// Dropout probability on embeddings, residual branches and the classifier's input.
  double dropout = 0;
  double attention_dropout = 0;  ///< Dropout probability on attention probabilities
  activation_kind activation = activation_kind::gelu;
  double deviation = 0.02;  ///< Standard deviation of the normal initial weights

  constexpr std::int64_t first_position() const { return padding + 1; }
};

/// A RoBERTa model (Liu et al. 2019) with a head that classifies sequences. The encoder is BERT's,
/// but positions count only tokens other than padding, from the row after the padding id. The head
/// has its own linear layer and tanh. Returns [B, classes]. Initial weights are normal.
struct roberta {
  static constexpr auto width = &roberta_config::width;
  static constexpr auto classes = &roberta_config::classes;
  static constexpr auto drop = &roberta_config::dropout;

  using encoder =
      bert_encoder<roberta_config, &roberta_config::first_position, tokens_other_than<&roberta_config::padding>>;
  using head = sequential<first_token, dropout<drop>, named<"dense", linear<width, width>>, tanh_layer, dropout<drop>,
                          named<"out_proj", linear<width, classes>>>;
  using net = initialised<&roberta_config::deviation, sequential<encoder::net, named<"classifier", head>>>;

  roberta_config config;
};

/// Names of RoBERTa's parameters in Hugging Face files; defined in
/// pretrained/stored_names/roberta.hpp.
template <>
struct stored_names<roberta>;

}  // namespace redco
