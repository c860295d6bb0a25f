#pragma once

#include <redco/pretrained/from_config/common_keys.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/model/bert.hpp>

#include <string_view>

namespace redco::pretrained {

/// Reads the keys of a config.json that BERT and RoBERTa share. Sets `context` to the number of
/// rows of the position table. If a size is absent, uses the size of the base model.
template <class Config>
void read_bert_keys(config_reader& c, Config& g, known_classes const& known) {
  read_common_keys(c, known);
  g.vocab = c.extent({"vocab_size"}, g.vocab);
  g.context = c.extent({"max_position_embeddings"}, 512);
  g.token_types = c.extent({"type_vocab_size"}, 2);
  g.width = c.extent({"hidden_size"}, 768);
  g.ffn = c.extent({"intermediate_size"}, 3072);
  g.heads = c.extent({"num_attention_heads"}, 12);
  g.layers = c.extent({"num_hidden_layers"}, 12);
  g.classes = read_classes(c);
  g.norm_epsilon = c.real("layer_norm_eps", 1e-12, 1e-30, 1);
  g.dropout = c.real("hidden_dropout_prob", 0.1, 0, 0.999);
  g.attention_dropout = c.real("attention_probs_dropout_prob", 0.1, 0, 0.999);
  if (double const p = c.real("classifier_dropout", g.dropout, 0, 0.999); p != g.dropout)
    c.refuse(c.is("classifier_dropout", p) +
             ", another one than \"hidden_dropout_prob\", which is not supported; remove it");
  check_heads(c, g.width, g.heads);
  g.activation = read_activation(c, "hidden_act", g.activation);
  g.deviation = read_deviation(c);
  c.only("position_embedding_type", "absolute");
  c.skip({"tie_word_embeddings", "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
          "pooler_size_per_head", "sbert_ce_default_activation_function"});
}

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
