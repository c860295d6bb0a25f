#pragma once

#include <redco/pretrained/from_config/common_keys.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/read_classes.hpp>
#include <redco/model/vit.hpp>

#include <string>
#include <string_view>

namespace redco {

/// ViT that classifies images, as a config.json names it.
struct vit_from_config {
  static constexpr std::string_view name = "vit";

  static vit read(config_reader& c) {
    read_common_keys(c, "ViTForImageClassification");
    vit model;
    vit_config& g = model.config;
    g.channels = c.extent({"num_channels"}, 3);
    g.image = c.extent({"image_size"});
    g.patch = c.extent({"patch_size"});
    g.width = c.extent({"hidden_size"});
    g.ffn = c.extent({"intermediate_size"});
    g.heads = c.extent({"num_attention_heads"});
    g.layers = c.extent({"num_hidden_layers"});
    g.classes = read_classes(c);
    g.norm_epsilon = c.real("layer_norm_eps", 1e-12, 1e-30, 1);
    g.dropout = c.real("hidden_dropout_prob", 0, 0, 0.999);
    g.attention_dropout = c.real("attention_probs_dropout_prob", 0, 0, 0.999);
    check_heads(c, g.width, g.heads);
    if (g.image % g.patch != 0)
      c.refuse("images of " + std::to_string(g.image) + " pixels are not whole patches of " + std::to_string(g.patch) +
               "; correct \"image_size\" or \"patch_size\"");
    g.activation = read_activation(c, "hidden_act", g.activation);
    g.qkv_bias = c.flag("qkv_bias", true);
    g.deviation = read_deviation(c);
    c.skip({"encoder_stride", "pooler_act", "pooler_output_size", "tie_word_embeddings"});
    c.finish();
    return model;
  }
};

}  // namespace redco
