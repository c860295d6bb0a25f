#pragma once

#include <redco/layer/activation.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/counted_tokens.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/embedding.hpp>
#include <redco/layer/layer_norm.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/positions.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/residual.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/sum.hpp>
#include <redco/layer/token_types.hpp>

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

}  // namespace redco::models
