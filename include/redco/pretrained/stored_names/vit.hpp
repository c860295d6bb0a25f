#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/model/vit.hpp>

#include <array>
#include <string_view>

namespace redco {

template <>
struct models::stored_names<vit> {
  static constexpr std::array names{
      models::stored_name{.ours = "embeddings.cls_token.weight", .theirs = "vit.embeddings.cls_token", .ones = 2},
      models::stored_name{
          .ours = "embeddings.position_embeddings.weight", .theirs = "vit.embeddings.position_embeddings", .ones = 1},
      models::stored_name{"embeddings.patch_embeddings.weight", "vit.embeddings.patch_embeddings.projection.weight"},
      models::stored_name{"embeddings.patch_embeddings.bias", "vit.embeddings.patch_embeddings.projection.bias"},
      models::stored_name{"layer.*.attention.q.weight", "vit.encoder.layer.*.attention.attention.query.weight"},
      models::stored_name{"layer.*.attention.q.bias", "vit.encoder.layer.*.attention.attention.query.bias"},
      models::stored_name{"layer.*.attention.k.weight", "vit.encoder.layer.*.attention.attention.key.weight"},
      models::stored_name{"layer.*.attention.k.bias", "vit.encoder.layer.*.attention.attention.key.bias"},
      models::stored_name{"layer.*.attention.v.weight", "vit.encoder.layer.*.attention.attention.value.weight"},
      models::stored_name{"layer.*.attention.v.bias", "vit.encoder.layer.*.attention.attention.value.bias"},
      models::stored_name{"layer.*.attention.o.weight", "vit.encoder.layer.*.attention.output.dense.weight"},
      models::stored_name{"layer.*.attention.o.bias", "vit.encoder.layer.*.attention.output.dense.bias"},
      models::stored_name{"layer.*.layernorm_before.weight", "vit.encoder.layer.*.layernorm_before.weight"},
      models::stored_name{"layer.*.layernorm_before.bias", "vit.encoder.layer.*.layernorm_before.bias"},
      models::stored_name{"layer.*.layernorm_after.weight", "vit.encoder.layer.*.layernorm_after.weight"},
      models::stored_name{"layer.*.layernorm_after.bias", "vit.encoder.layer.*.layernorm_after.bias"},
      models::stored_name{"layer.*.intermediate.weight", "vit.encoder.layer.*.intermediate.dense.weight"},
      models::stored_name{"layer.*.intermediate.bias", "vit.encoder.layer.*.intermediate.dense.bias"},
      models::stored_name{"layer.*.output.weight", "vit.encoder.layer.*.output.dense.weight"},
      models::stored_name{"layer.*.output.bias", "vit.encoder.layer.*.output.dense.bias"},
      models::stored_name{"layernorm.weight", "vit.layernorm.weight"},
      models::stored_name{"layernorm.bias", "vit.layernorm.bias"},
      models::stored_name{"classifier.weight", "classifier.weight"},
      models::stored_name{"classifier.bias", "classifier.bias"}};
  static constexpr std::array<std::string_view, 3> unread{"vit.embeddings.mask_token", "vit.pooler.*", "decoder.*"};
  static constexpr std::string_view base = "vit.";
  static constexpr std::array<std::string_view, 1> heads{"classifier"};
};

}  // namespace redco
