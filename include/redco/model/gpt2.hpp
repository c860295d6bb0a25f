#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

#include <cstdint>

namespace redco::models {

/// The sizes and options of a GPT-2 model; the defaults are those of the smallest published model
/// (124M parameters).
struct gpt2_config {
  std::int64_t vocab = 50257;
  std::int64_t context = 1024;
  std::int64_t width = 768;
  std::int64_t heads = 12;
  std::int64_t layers = 12;
  /// Dropout probability applied to embeddings, outputs of residual branches and attention
  /// probabilities.
  double dropout = 0;
  std::int64_t inner = 0;  ///< Number of features inside the feed-forward layer; 0: 4 * width
  layers::activation_kind activation = layers::activation_kind::gelu_tanh;
  double norm_epsilon = 1e-5;
  /// Standard deviation of initial weights, drawn from a normal distribution
  double deviation = 0.02;

  constexpr std::int64_t ffn() const { return inner > 0 ? inner : 4 * width; }
  constexpr double branch_end() const { return deviation / layers::square_root(2.0 * static_cast<double>(layers)); }
};

}  // namespace redco::models

namespace redco {

/// A GPT-2 model (Radford et al. 2019): a decoder with a norm before each residual branch, learned
/// positions, tanh-approximated GELU, and a head tied to the token embedding. Initial weights are
/// drawn from a normal distribution. The last weight of each residual branch has its standard
/// deviation scaled by 1 / sqrt(2 * layers).
struct gpt2 {
  static constexpr auto vocab = &models::gpt2_config::vocab;
  static constexpr auto context = &models::gpt2_config::context;
  static constexpr auto width = &models::gpt2_config::width;
  static constexpr auto heads = &models::gpt2_config::heads;
  static constexpr auto layers = &models::gpt2_config::layers;
  static constexpr auto drop = &models::gpt2_config::dropout;
  static constexpr auto ffn = &models::gpt2_config::ffn;
  static constexpr auto epsilon = &models::gpt2_config::norm_epsilon;
  static constexpr auto branch_end = &models::gpt2_config::branch_end;

  using attention_branch =
      residual<sequential<named<"ln_1", layer_norm<width, epsilon>>,
                          named<"attn", causal_attention<width, heads, layers::attention_dropout<drop>,
                                                         layers::output_deviation<branch_end>>>,
                          dropout<drop>>>;
  using mlp_branch = residual<sequential<
      named<"ln_2", layer_norm<width, epsilon>>,
      named<"mlp", sequential<named<"up", linear<width, ffn>>, layers::activation<&models::gpt2_config::activation>,
                              named<"down", layers::initialised<branch_end, linear<ffn, width>>>>>,
      dropout<drop>>>;
  using block = sequential<attention_branch, mlp_branch>;
  using net = layers::initialised<
      &models::gpt2_config::deviation,
      sequential<sum<named<"wte", embedding<vocab, width>>, named<"wpe", positions<context, width>>>, dropout<drop>,
                 named<"h", repeat<layers, block>>, named<"ln_f", layer_norm<width, epsilon>>,
                 layers::language_head<vocab, width, "wte.weight">>>;

  models::gpt2_config config;
};

}  // namespace redco

namespace redco::models {

/// A table of the names of GPT-2's parameters in Hugging Face files, defined in
/// pretrained/stored_names/gpt.hpp.
template <>
struct stored_names<gpt2>;

}  // namespace redco::models
