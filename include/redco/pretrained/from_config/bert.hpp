#pragma once

#include <redco/pretrained/from_config/bert_keys.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/model/bert.hpp>

#include <string_view>

namespace redco::pretrained {

/// A reader that makes a BERT sequence classifier from the keys of a config.json.
struct bert_from_config {
  static constexpr std::string_view name = "bert";

  static bert read(config_reader& c) {
    bert model;
    read_bert_keys(c, model.config,
                   {"BertForSequenceClassification", {}, {"BertModel", "BertForPreTraining", "BertForMaskedLM"}});
    model.config.padding = c.integer({"pad_token_id"}, c.names("pad_token_id") ? -1 : 0, -1);
    if (model.config.padding >= model.config.vocab)
      c.refuse("\"pad_token_id\" is outside the vocabulary; correct one of them");
    c.finish();
    return model;
  }
};

}  // namespace redco::pretrained
