#pragma once

#include <redco/pretrained/from_config/common_keys.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/model/vit.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace redco::pretrained {

/// A reader that makes a ViT image classifier from the keys of a config.json.
struct vit_from_config {
  static constexpr std::string_view name = "vit";

  static vit read(config_reader& c) {
    read_common_keys(c, {"ViTForImageClassification", {}, {"ViTModel", "ViTForMaskedImageModeling"}});
    vit model;
    models::vit_config& g = model.config;
    g.channels = c.extent({"num_channels"}, 3);
    auto const [image_rows, image_columns] = c.rows_and_columns("image_size", 224);
    auto const [patch_rows, patch_columns] = c.rows_and_columns("patch_size", 16);
    g.image = image_rows;
    g.image_columns = image_columns == image_rows ? 0 : image_columns;
    g.patch = patch_rows;
    g.patch_columns = patch_columns == patch_rows ? 0 : patch_columns;
    g.width = c.extent({"hidden_size"}, 768);
    g.ffn = c.extent({"intermediate_size"}, 3072);
    g.heads = c.extent({"num_attention_heads"}, 12);
    g.layers = c.extent({"num_hidden_layers"}, 12);
    g.classes = read_classes(c);
    g.norm_epsilon = c.real("layer_norm_eps", 1e-12, 1e-30, 1);
    g.dropout = c.real("hidden_dropout_prob", 0, 0, 0.999);
    g.attention_dropout = c.real("attention_probs_dropout_prob", 0, 0, 0.999);
    check_heads(c, g.width, g.heads);
    for (auto const& [pixels, patch] : {std::pair{image_rows, patch_rows}, {image_columns, patch_columns}})
      if (pixels % patch != 0)
        c.refuse("images of " + std::to_string(pixels) + " pixels are not whole patches of " + std::to_string(patch) +
                 "; correct \"image_size\" or \"patch_size\"");
    g.activation = read_activation(c, "hidden_act", g.activation);
    g.qkv_bias = c.flag("qkv_bias", true);
    g.deviation = read_deviation(c);
    c.skip({"encoder_stride", "pooler_act", "pooler_output_size", "tie_word_embeddings"});
    c.finish();
    return model;
  }
};

}  // namespace redco::pretrained
