#pragma once

#include <redco/pretrained/from_config/bert.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/model/bert.hpp>

#include <string_view>

namespace redco::pretrained {

/// A reader that makes a RoBERTa sequence classifier from the keys of a config.json.
struct roberta_from_config {
  static constexpr std::string_view name = "roberta";

  static roberta read(config_reader& c) {
    roberta model;
    read_bert_keys(c, model.config, {"RobertaForSequenceClassification", {}, {"RobertaModel", "RobertaForMaskedLM"}});
    model.config.padding = c.integer({"pad_token_id"}, 1, 0);
    if (model.config.padding >= model.config.vocab)
      c.refuse("\"pad_token_id\" is outside the vocabulary; correct one of them");
    // The rows up to the row of the padding token are not positions.
    model.config.context -= model.config.first_position();
    if (model.config.context < 1)
      c.refuse("\"max_position_embeddings\" leaves no row after \"pad_token_id\"; correct one of them");
    c.finish();
    return model;
  }
};

}  // namespace redco::pretrained
