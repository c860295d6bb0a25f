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

/// The sizes and options of a GPT-Neo model; the defaults are those of GPT-Neo-1.3B.
struct gpt_neo_config {
  std::int64_t vocab = 50257;
  std::int64_t context = 2048;
  std::int64_t width = 2048;
  std::int64_t heads = 16;
  std::int64_t layers = 24;
  /// Number of keys to which a query attends in blocks 0, 2, 4 ..., including its own position; 0:
  /// all earlier keys.
  std::int64_t even_window = 0;
  /// Number of keys to which a query attends in blocks 1, 3, 5 ..., including its own position; 0:
  /// all earlier keys.
  std::int64_t odd_window = 256;
  /// Dropout probability applied to embeddings, outputs of residual branches and attention
  /// probabilities.
  double dropout = 0;
  std::int64_t inner = 0;  ///< Number of features inside the feed-forward layer; 0: 4 * width
  layers::activation_kind activation = layers::activation_kind::gelu_tanh;
  double norm_epsilon = 1e-5;
  /// Standard deviation of initial weights, drawn from a normal distribution
  double deviation = 0.02;

  constexpr std::int64_t ffn() const { return inner > 0 ? inner : 4 * width; }
};

}  // namespace redco::models

namespace redco {

/// A GPT-Neo model (Black et al. 2021): like GPT-2, but every second block attends to a sliding
/// window of keys. Attention scores are not scaled; q, k and v have no biases. Initial weights,
/// including those of q, are drawn from a normal distribution with one standard deviation.
struct gpt_neo {
  static constexpr auto vocab = &models::gpt_neo_config::vocab;
  static constexpr auto context = &models::gpt_neo_config::context;
  static constexpr auto width = &models::gpt_neo_config::width;
  static constexpr auto heads = &models::gpt_neo_config::heads;
  static constexpr auto layers = &models::gpt_neo_config::layers;
  static constexpr auto drop = &models::gpt_neo_config::dropout;
  static constexpr auto ffn = &models::gpt_neo_config::ffn;
  static constexpr auto epsilon = &models::gpt_neo_config::norm_epsilon;

  template <auto Window>
  using attention =
      causal_attention<width, heads, layers::unscaled, layers::biased<layers::projection_biases{false, true}>,
                       layers::attention_dropout<drop>, layers::sliding_window<Window>>;
  template <auto Window>
  using attention_branch =
      residual<sequential<named<"ln_1", layer_norm<width, epsilon>>, named<"attn", attention<Window>>, dropout<drop>>>;
  using mlp = sequential<named<"up", linear<width, ffn>>, layers::activation<&models::gpt_neo_config::activation>,
                         named<"down", linear<ffn, width>>>;
  using mlp_branch = residual<sequential<named<"ln_2", layer_norm<width, epsilon>>, named<"mlp", mlp>, dropout<drop>>>;
  template <auto Window>
  using block = sequential<attention_branch<Window>, mlp_branch>;
  using blocks =
      repeat<layers, block<&models::gpt_neo_config::even_window>, block<&models::gpt_neo_config::odd_window>>;
  using net = layers::initialised<
      &models::gpt_neo_config::deviation,
      sequential<sum<named<"wte", embedding<vocab, width>>, named<"wpe", positions<context, width>>>, dropout<drop>,
                 named<"h", blocks>, named<"ln_f", layer_norm<width, epsilon>>,
                 layers::language_head<vocab, width, "wte.weight">>>;

  models::gpt_neo_config config;
};

}  // namespace redco

namespace redco::models {

/// A table of the names of GPT-Neo's parameters in Hugging Face files, defined in
/// pretrained/stored_names/gpt.hpp.
template <>
struct stored_names<gpt_neo>;

}  // namespace redco::models
