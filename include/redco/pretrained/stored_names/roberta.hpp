#pragma once

#include <redco/model/bert.hpp>
#include <redco/model/stored_name.hpp>

#include <array>
#include <string_view>

namespace redco {

template <>
struct models::stored_names<roberta> {
  static constexpr std::array names{
      models::stored_name{"embeddings.word_embeddings.weight", "roberta.embeddings.word_embeddings.weight"},
      models::stored_name{"embeddings.position_embeddings.weight", "roberta.embeddings.position_embeddings.weight"},
      models::stored_name{"embeddings.token_type_embeddings.weight", "roberta.embeddings.token_type_embeddings.weight"},
      models::stored_name{"embeddings.LayerNorm.weight", "roberta.embeddings.LayerNorm.weight"},
      models::stored_name{"embeddings.LayerNorm.bias", "roberta.embeddings.LayerNorm.bias"},
      models::stored_name{"encoder.layer.*.attention.q.weight", "roberta.encoder.layer.*.attention.self.query.weight"},
      models::stored_name{"encoder.layer.*.attention.q.bias", "roberta.encoder.layer.*.attention.self.query.bias"},
      models::stored_name{"encoder.layer.*.attention.k.weight", "roberta.encoder.layer.*.attention.self.key.weight"},
      models::stored_name{"encoder.layer.*.attention.k.bias", "roberta.encoder.layer.*.attention.self.key.bias"},
      models::stored_name{"encoder.layer.*.attention.v.weight", "roberta.encoder.layer.*.attention.self.value.weight"},
      models::stored_name{"encoder.layer.*.attention.v.bias", "roberta.encoder.layer.*.attention.self.value.bias"},
      models::stored_name{"encoder.layer.*.attention.o.weight",
                          "roberta.encoder.layer.*.attention.output.dense.weight"},
      models::stored_name{"encoder.layer.*.attention.o.bias", "roberta.encoder.layer.*.attention.output.dense.bias"},
      models::stored_name{"encoder.layer.*.attention.LayerNorm.weight",
                          "roberta.encoder.layer.*.attention.output.LayerNorm.weight"},
      models::stored_name{"encoder.layer.*.attention.LayerNorm.bias",
                          "roberta.encoder.layer.*.attention.output.LayerNorm.bias"},
      models::stored_name{"encoder.layer.*.intermediate.weight", "roberta.encoder.layer.*.intermediate.dense.weight"},
      models::stored_name{"encoder.layer.*.intermediate.bias", "roberta.encoder.layer.*.intermediate.dense.bias"},
      models::stored_name{"encoder.layer.*.output.LayerNorm.weight", "roberta.encoder.layer.*.output.LayerNorm.weight"},
      models::stored_name{"encoder.layer.*.output.LayerNorm.bias", "roberta.encoder.layer.*.output.LayerNorm.bias"},
      models::stored_name{"encoder.layer.*.output.weight", "roberta.encoder.layer.*.output.dense.weight"},
      models::stored_name{"encoder.layer.*.output.bias", "roberta.encoder.layer.*.output.dense.bias"},
      models::stored_name{"classifier.dense.weight", "classifier.dense.weight"},
      models::stored_name{"classifier.dense.bias", "classifier.dense.bias"},
      models::stored_name{"classifier.out_proj.weight", "classifier.out_proj.weight"},
      models::stored_name{"classifier.out_proj.bias", "classifier.out_proj.bias"}};
  static constexpr std::array<std::string_view, 4> unread{
      "roberta.embeddings.position_ids", "roberta.embeddings.token_type_ids", "roberta.pooler.*", "lm_head.*"};
  static constexpr std::string_view base = "roberta.";
  static constexpr std::array<std::string_view, 1> heads{"classifier"};
};

}  // namespace redco
