#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

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

/// The sizes and options of an OPT model with norms after residual connections; the defaults are
/// those of OPT-350M.
struct opt_post_norm_config {
  std::int64_t vocab = 50272;
  std::int64_t context = 2048;
  std::int64_t embedding_width = 512;
  std::int64_t width = 1024;
  std::int64_t ffn = 4096;
  std::int64_t heads = 16;
  std::int64_t layers = 24;
  /// Token id of padding; its embedding row gets no gradient as an input
  std::int64_t padding = 1;
  double dropout = 0;            ///< Dropout probability applied to outputs of residual branches
  double attention_dropout = 0;  ///< Dropout probability of attention probabilities
  layers::activation_kind activation = layers::activation_kind::relu;
  /// Standard deviation of initial weights, drawn from a normal distribution
  double deviation = 0.02;
};

/// An OPT-350M model (Zhang et al. 2022). Unlike other OPT models, a norm follows each residual
/// connection, and there is no norm after the last block. If the token embedding is narrower than
/// the blocks, projections before and after the blocks convert between both widths. Initial weights
/// are drawn from a normal distribution.
struct opt_post_norm {
  static constexpr auto vocab = &opt_post_norm_config::vocab;
  static constexpr auto context = &opt_post_norm_config::context;
  static constexpr auto narrow = &opt_post_norm_config::embedding_width;
  static constexpr auto width = &opt_post_norm_config::width;
  static constexpr auto ffn = &opt_post_norm_config::ffn;
  static constexpr auto heads = &opt_post_norm_config::heads;
  static constexpr auto layers = &opt_post_norm_config::layers;
  static constexpr auto padding = &opt_post_norm_config::padding;
  static constexpr auto drop = &opt_post_norm_config::dropout;
  static constexpr auto attention_drop = &opt_post_norm_config::attention_dropout;

  using attention_branch =
      residual<sequential<named<"self_attn", causal_attention<width, heads, layers::attention_dropout<attention_drop>>>,
                          dropout<drop>>>;
  using mlp_branch =
      residual<sequential<named<"fc1", linear<width, ffn>>, layers::activation<&opt_post_norm_config::activation>,
                          named<"fc2", linear<ffn, width>>, dropout<drop>>>;
  using block = sequential<attention_branch, named<"self_attn_layer_norm", layer_norm<width>>, mlp_branch,
                           named<"final_layer_norm", layer_norm<width>>>;
  using tokens = sequential<named<"embed_tokens", embedding<vocab, narrow, "", padding>>,
                            named<"project_in", layers::projection<narrow, width>>>;
  using net = layers::initialised<
      &opt_post_norm_config::deviation,
      sequential<sum<tokens, named<"embed_positions", positions<context, width, 2, layers::unmasked_tokens>>>,
                 named<"layers", repeat<layers, block>>, named<"project_out", layers::projection<width, narrow>>,
                 layers::language_head<vocab, narrow, "embed_tokens.weight">>>;

  opt_post_norm_config config;
};

/// A table of the names of OPT-350M's parameters in Hugging Face files, defined in
/// pretrained/stored_names/opt.hpp.
template <>
struct stored_names<opt_post_norm>;

}  // namespace redco::models
