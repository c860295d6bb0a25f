#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
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

/// The sizes and options of a GPT-NeoX model; the defaults are those of GPT-NeoX-20B.
struct gpt_neox_config {
  std::int64_t vocab = 50432;
  std::int64_t context = 2048;
  std::int64_t width = 6144;
  std::int64_t ffn = 24576;
  std::int64_t heads = 64;
  std::int64_t layers = 44;
  std::int64_t rotary_dims = 24;  ///< Number of features per head that get rotary positions
  double theta = 10000;
  layers::rotary_scaling scaling = {};
  bool parallel = true;  ///< True if attention and feed-forward of a block read the same input
  bool attention_bias = true;
  /// Dropout probability applied to embeddings and the outputs of residual branches
  double dropout = 0;
  double attention_dropout = 0;  ///< Dropout probability of attention probabilities
  layers::activation_kind activation = layers::activation_kind::gelu;
  double norm_epsilon = 1e-5;
  /// Standard deviation of initial weights, drawn from a normal distribution
  double deviation = 0.02;
  bool tied = false;  ///< True if the language head uses the token embedding's table
};

/// A GPT-NeoX model (Black et al. 2022), such as Pythia (Biderman et al. 2023). Attention and
/// feed-forward have a norm each. If `parallel` is true, both read the input of the block, their
/// sum is reduced over the ranks once, and dropout is applied to the sum. Otherwise the
/// feed-forward reads the output of attention. Rotary positions rotate the first `rotary_dims`
/// features of each head. Initial weights are drawn from a normal distribution.
struct gpt_neox {
  static constexpr auto vocab = &gpt_neox_config::vocab;
  static constexpr auto width = &gpt_neox_config::width;
  static constexpr auto ffn = &gpt_neox_config::ffn;
  static constexpr auto drop = &gpt_neox_config::dropout;
  static constexpr auto epsilon = &gpt_neox_config::norm_epsilon;

  using attention = causal_attention<width, &gpt_neox_config::heads, layers::biased<&gpt_neox_config::attention_bias>,
                                     layers::attention_dropout<&gpt_neox_config::attention_dropout>,
                                     layers::rotary<&gpt_neox_config::theta, &gpt_neox_config::rotary_dims,
                                                    layers::rotary_pairs::halves, &gpt_neox_config::scaling>>;
  using attention_branch =
      sequential<named<"input_layernorm", layer_norm<width, epsilon>>, named<"attention", attention>>;
  using mlp = sequential<named<"up", linear<width, ffn>>, layers::activation<&gpt_neox_config::activation>,
                         named<"down", linear<ffn, width>>>;
  using mlp_branch = sequential<named<"post_attention_layernorm", layer_norm<width, epsilon>>, named<"mlp", mlp>>;
  using parallel_block = residual<sequential<sum<attention_branch, mlp_branch>, dropout<drop>>>;
  using sequential_block = sequential<residual<sequential<attention_branch, dropout<drop>>>,
                                      residual<sequential<mlp_branch, dropout<drop>>>>;
  using block = layers::either<&gpt_neox_config::parallel, parallel_block, sequential_block>;
  using head = layers::language_head<vocab, width, "embed_in.weight", layers::head_bias::none, &gpt_neox_config::tied>;
  using net =
      layers::initialised<&gpt_neox_config::deviation,
                          sequential<named<"embed_in", embedding<vocab, width>>, dropout<drop>,
                                     named<"layers", repeat<&gpt_neox_config::layers, block>>,
                                     named<"final_layer_norm", layer_norm<width, epsilon>>, named<"embed_out", head>>>;

  gpt_neox_config config;
};

/// A table of the names of GPT-NeoX's parameters in Hugging Face files, defined in
/// pretrained/stored_names/gpt.hpp.
template <>
struct stored_names<gpt_neox>;

/// Sizes and options of Pythia-160M: `constexpr redco::models::gpt_neox
/// model{redco::models::pythia_160m};`.
inline constexpr gpt_neox_config pythia_160m{
    .vocab = 50304, .width = 768, .ffn = 3072, .heads = 12, .layers = 12, .rotary_dims = 16};

}  // namespace redco::models
