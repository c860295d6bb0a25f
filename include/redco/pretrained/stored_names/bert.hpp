#pragma once

#include <redco/model/bert.hpp>
#include <redco/model/stored_name.hpp>

#include <array>
#include <string_view>

namespace redco {

template <>
struct models::stored_names<bert> {
  static constexpr std::array names{
      models::stored_name{"embeddings.word_embeddings.weight", "bert.embeddings.word_embeddings.weight"},
      models::stored_name{"embeddings.position_embeddings.weight", "bert.embeddings.position_embeddings.weight"},
      models::stored_name{"embeddings.token_type_embeddings.weight", "bert.embeddings.token_type_embeddings.weight"},
      models::stored_name{"embeddings.LayerNorm.weight", "bert.embeddings.LayerNorm.weight"},
      models::stored_name{"embeddings.LayerNorm.bias", "bert.embeddings.LayerNorm.bias"},
      models::stored_name{"encoder.layer.*.attention.q.weight", "bert.encoder.layer.*.attention.self.query.weight"},
      models::stored_name{"encoder.layer.*.attention.q.bias", "bert.encoder.layer.*.attention.self.query.bias"},
      models::stored_name{"encoder.layer.*.attention.k.weight", "bert.encoder.layer.*.attention.self.key.weight"},
      models::stored_name{"encoder.layer.*.attention.k.bias", "bert.encoder.layer.*.attention.self.key.bias"},
      models::stored_name{"encoder.layer.*.attention.v.weight", "bert.encoder.layer.*.attention.self.value.weight"},
      models::stored_name{"encoder.layer.*.attention.v.bias", "bert.encoder.layer.*.attention.self.value.bias"},
      models::stored_name{"encoder.layer.*.attention.o.weight", "bert.encoder.layer.*.attention.output.dense.weight"},
      models::stored_name{"encoder.layer.*.attention.o.bias", "bert.encoder.layer.*.attention.output.dense.bias"},
      models::stored_name{"encoder.layer.*.attention.LayerNorm.weight",
                          "bert.encoder.layer.*.attention.output.LayerNorm.weight"},
      models::stored_name{"encoder.layer.*.attention.LayerNorm.bias",
                          "bert.encoder.layer.*.attention.output.LayerNorm.bias"},
      models::stored_name{"encoder.layer.*.intermediate.weight", "bert.encoder.layer.*.intermediate.dense.weight"},
      models::stored_name{"encoder.layer.*.intermediate.bias", "bert.encoder.layer.*.intermediate.dense.bias"},
      models::stored_name{"encoder.layer.*.output.LayerNorm.weight", "bert.encoder.layer.*.output.LayerNorm.weight"},
      models::stored_name{"encoder.layer.*.output.LayerNorm.bias", "bert.encoder.layer.*.output.LayerNorm.bias"},
      models::stored_name{"encoder.layer.*.output.weight", "bert.encoder.layer.*.output.dense.weight"},
      models::stored_name{"encoder.layer.*.output.bias", "bert.encoder.layer.*.output.dense.bias"},
      models::stored_name{"pooler.dense.weight", "bert.pooler.dense.weight"},
      models::stored_name{"pooler.dense.bias", "bert.pooler.dense.bias"},
      models::stored_name{"classifier.weight", "classifier.weight"},
      models::stored_name{"classifier.bias", "classifier.bias"}};
  static constexpr std::array<std::string_view, 3> unread{"bert.embeddings.position_ids",
                                                          "bert.embeddings.token_type_ids", "cls.*"};
  static constexpr std::string_view base = "bert.";
  static constexpr std::array<std::string_view, 2> heads{"pooler", "classifier"};
};

}  // namespace redco
