#pragma once

#include <redco/layer/activations.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/convolutions.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

#include <redco/model/model.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/shape/extents.hpp>

#include <cstdint>

namespace redco::models {

/// The sizes and options of a ViT model that classifies images; the defaults are those of ViT-L/16.
struct vit_config {
  std::int64_t channels = 3;
  std::int64_t image = 224;  ///< Height of an image in pixels, a multiple of `patch`
  /// Width of an image in pixels, a multiple of the patch's width; 0: equal to `image`
  std::int64_t image_columns = 0;
  std::int64_t patch = 16;         ///< Height of a patch in pixels
  std::int64_t patch_columns = 0;  ///< Width of a patch in pixels; 0: equal to `patch`
  std::int64_t width = 1024;
  std::int64_t ffn = 4096;
  std::int64_t heads = 16;
  std::int64_t layers = 24;
  std::int64_t classes = 1000;
  double norm_epsilon = 1e-12;
  /// Dropout probability applied to embeddings and outputs of residual branches
  double dropout = 0;
  double attention_dropout = 0;  ///< Dropout probability of attention probabilities
  layers::activation_kind activation = layers::activation_kind::gelu;
  bool qkv_bias = true;
  /// Standard deviation of initial weights, drawn from a normal distribution
  double deviation = 0.02;

  constexpr layers::projection_biases biases() const { return {qkv_bias, true}; }
  constexpr std::int64_t image_width() const { return image_columns > 0 ? image_columns : image; }
  constexpr std::int64_t patch_width() const { return patch_columns > 0 ? patch_columns : patch; }
  /// Returns the number of tokens per image: one for each patch, and the class token.
  constexpr std::int64_t tokens() const {
    return patch > 0 ? (image / patch) * (image_width() / patch_width()) + 1 : 0;
  }
};

}  // namespace redco::models

namespace redco {

/// A ViT model (Dosovitskiy et al. 2021), which classifies images [B, channels, rows, columns]. The
/// tokens are a learned class token and the image's patches, with learned positions. Blocks have a
/// norm before each residual branch, and GELU. The classifier reads the class token. Returns [B,
/// classes]. Initial weights are drawn from a normal distribution.
struct vit {
  static constexpr auto channels = &models::vit_config::channels;
  static constexpr auto patch = &models::vit_config::patch;
  static constexpr auto patch_width = &models::vit_config::patch_width;
  static constexpr auto tokens = &models::vit_config::tokens;
  static constexpr auto width = &models::vit_config::width;
  static constexpr auto ffn = &models::vit_config::ffn;
  static constexpr auto heads = &models::vit_config::heads;
  static constexpr auto layers = &models::vit_config::layers;
  static constexpr auto classes = &models::vit_config::classes;
  static constexpr auto epsilon = &models::vit_config::norm_epsilon;
  static constexpr auto drop = &models::vit_config::dropout;
  static constexpr auto attention_drop = &models::vit_config::attention_dropout;

  using norm = layer_norm<width, epsilon>;
  using embeddings = sequential<named<"patch_embeddings", patch_embedding<channels, patch, width, patch_width>>,
                                named<"cls_token", class_token<width>>,
                                residual<named<"position_embeddings", positions<tokens, width>>>, dropout<drop>>;
  using attention_branch =
      residual<sequential<named<"layernorm_before", norm>,
                          named<"attention", full_attention<width, heads, layers::biased<&models::vit_config::biases>,
                                                            layers::attention_dropout<attention_drop>>>,
                          dropout<drop>>>;
  using mlp_branch = residual<sequential<named<"layernorm_after", norm>, named<"intermediate", linear<width, ffn>>,
                                         layers::activation<&models::vit_config::activation>,
                                         named<"output", linear<ffn, width>>, dropout<drop>>>;
  using block = sequential<attention_branch, mlp_branch>;
  using net = layers::initialised<
      &models::vit_config::deviation,
      sequential<named<"embeddings", embeddings>, named<"layer", repeat<layers, block>>, named<"layernorm", norm>,
                 layers::first_token, named<"classifier", linear<width, classes>>>>;

  constexpr extents input(workload const& load) const {
    return {load.batch, config.channels, config.image, config.image_width()};
  }

  models::vit_config config;
};

}  // namespace redco

namespace redco::models {

/// A table of the names of ViT's parameters in Hugging Face files, defined in
/// pretrained/stored_names/vit.hpp.
template <>
struct stored_names<vit>;

}  // namespace redco::models
