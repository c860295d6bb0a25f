#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/layer/activation.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/counted_tokens.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/embedding.hpp>
#include <redco/layer/initialised.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/layer_norm.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/positions.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/residual.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/sum.hpp>

#include <cstdint>

namespace redco::models {

/// The sizes and options of an OPT model; the defaults are those of OPT-2.7B.
struct opt_config {
  std::int64_t vocab = 50272;
  std::int64_t context = 2048;
  std::int64_t width = 2560;
  std::int64_t ffn = 10240;
  std::int64_t heads = 32;
  std::int64_t layers = 32;
  /// Token id of padding; its embedding row gets no gradient as an input
  std::int64_t padding = 1;
  double dropout = 0;            ///< Dropout probability applied to outputs of residual branches
  double attention_dropout = 0;  ///< Dropout probability of attention probabilities
  layers::activation_kind activation = layers::activation_kind::relu;
  /// Standard deviation of initial weights, drawn from a normal distribution
  double deviation = 0.02;
};

}  // namespace redco::models

namespace redco {

/// An OPT model (Zhang et al. 2022): a decoder with a norm before each residual branch, and ReLU by
/// default. Learned positions count the unmasked tokens and start at table row 2. The head is tied
/// to the token embedding. Initial weights are drawn from a normal distribution.
struct opt {
  static constexpr auto vocab = &models::opt_config::vocab;
  static constexpr auto context = &models::opt_config::context;
  static constexpr auto width = &models::opt_config::width;
  static constexpr auto ffn = &models::opt_config::ffn;
  static constexpr auto heads = &models::opt_config::heads;
  static constexpr auto layers = &models::opt_config::layers;
  static constexpr auto padding = &models::opt_config::padding;
  static constexpr auto drop = &models::opt_config::dropout;
  static constexpr auto attention_drop = &models::opt_config::attention_dropout;

  using attention_branch =
      residual<sequential<named<"self_attn_layer_norm", layer_norm<width>>,
                          named<"self_attn", causal_attention<width, heads, layers::attention_dropout<attention_drop>>>,
                          dropout<drop>>>;
  using mlp_branch = residual<
      sequential<named<"final_layer_norm", layer_norm<width>>, named<"fc1", linear<width, ffn>>,
                 layers::activation<&models::opt_config::activation>, named<"fc2", linear<ffn, width>>, dropout<drop>>>;
  using block = sequential<attention_branch, mlp_branch>;
  using net = layers::initialised<
      &models::opt_config::deviation,
      sequential<sum<named<"embed_tokens", embedding<vocab, width, "", padding>>,
                     named<"embed_positions", positions<context, width, 2, layers::unmasked_tokens>>>,
                 named<"layers", repeat<layers, block>>, named<"final_layer_norm", layer_norm<width>>,
                 layers::language_head<vocab, width, "embed_tokens.weight">>>;

  models::opt_config config;
};

}  // namespace redco

namespace redco::models {

/// A table of the names of OPT's parameters in Hugging Face files, defined in
/// pretrained/stored_names/opt.hpp.
template <>
struct stored_names<opt>;

}  // namespace redco::models
