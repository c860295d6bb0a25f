#pragma once

#include <redco/layer/activation.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/class_token.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/first_token.hpp>
#include <redco/layer/initialised.hpp>
#include <redco/layer/layer_norm.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/patch_embedding.hpp>
#include <redco/layer/positions.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/residual.hpp>
#include <redco/layer/sequential.hpp>

#include <redco/model/model.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/shape/extents.hpp>

#include <cstdint>

namespace redco {

/// The sizes of a ViT that classifies images; the defaults are ViT-L/16's.
struct vit_config {
  std::int64_t channels = 3;
  std::int64_t image = 224;        ///< rows of pixels, whole patches
  std::int64_t image_columns = 0;  ///< columns of pixels, whole patches; 0: as many as rows
  std::int64_t patch = 16;         ///< rows of a patch
  std::int64_t patch_columns = 0;  ///< columns of a patch; 0: as many as rows
  std::int64_t width = 1024;
  std::int64_t ffn = 4096;
  std::int64_t heads = 16;
  std::int64_t layers = 24;
  std::int64_t classes = 1000;
  double norm_epsilon = 1e-12;
  double dropout = 0;            ///< on embeddings and residual branches
  double attention_dropout = 0;  ///< on attention probabilities
  activation_kind activation = activation_kind::gelu;
  bool qkv_bias = true;
  double deviation = 0.02;  ///< of the normal distribution that weights start from

  constexpr projection_biases biases() const { return {qkv_bias, true}; }
  constexpr std::int64_t image_width() const { return image_columns > 0 ? image_columns : image; }
  constexpr std::int64_t patch_width() const { return patch_columns > 0 ? patch_columns : patch; }
  /// Patches and the class token.
  constexpr std::int64_t tokens() const {
    return patch > 0 ? (image / patch) * (image_width() / patch_width()) + 1 : 0;
  }
};

/// ViT (Dosovitskiy et al. 2021): patches of images [B, channels, rows, columns] as tokens behind a
/// class token, learned positions, pre-norm blocks with GELU, the class token classified. Gives [B,
/// classes]. Weights start normal.
struct vit {
  static constexpr auto channels = &vit_config::channels;
  static constexpr auto patch = &vit_config::patch;
  static constexpr auto patch_width = &vit_config::patch_width;
  static constexpr auto tokens = &vit_config::tokens;
  static constexpr auto width = &vit_config::width;
  static constexpr auto ffn = &vit_config::ffn;
  static constexpr auto heads = &vit_config::heads;
  static constexpr auto layers = &vit_config::layers;
  static constexpr auto classes = &vit_config::classes;
  static constexpr auto epsilon = &vit_config::norm_epsilon;
  static constexpr auto drop = &vit_config::dropout;
  static constexpr auto attention_drop = &vit_config::attention_dropout;

  using norm = layer_norm<width, epsilon>;
  using embeddings = sequential<named<"patch_embeddings", patch_embedding<channels, patch, width, patch_width>>,
                                named<"cls_token", class_token<width>>,
                                residual<named<"position_embeddings", positions<tokens, width>>>, dropout<drop>>;
  using attention_branch = residual<sequential<
      named<"layernorm_before", norm>,
      named<"attention", full_attention<width, heads, biased<&vit_config::biases>, attention_dropout<attention_drop>>>,
      dropout<drop>>>;
  using mlp_branch =
      residual<sequential<named<"layernorm_after", norm>, named<"intermediate", linear<width, ffn>>,
                          activation<&vit_config::activation>, named<"output", linear<ffn, width>>, dropout<drop>>>;
  using block = sequential<attention_branch, mlp_branch>;
  using net =
      initialised<&vit_config::deviation,
                  sequential<named<"embeddings", embeddings>, named<"layer", repeat<layers, block>>,
                             named<"layernorm", norm>, first_token, named<"classifier", linear<width, classes>>>>;

  constexpr extents input(workload const& load) const {
    return {load.batch, config.channels, config.image, config.image_width()};
  }

  vit_config config;
};

/// In stored_names/vit.hpp.
template <>
struct stored_names<vit>;

}  // namespace redco
