#pragma once

// A small BERT that starts from nothing, with a vocabulary of the words of its training texts.

#include <redco/pretrained/save_model_options.hpp>
#include <redco/model/bert.hpp>
#include <redco/data/table.hpp>
#include <redco/tokenizer/json_tokenizer.hpp>
#include <redco/tokenizer/tokenizer.hpp>
#include <redco/json/value.hpp>

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// A BERT with random weights, its tokenizer, and the files with which `trainer::save_model` writes
/// it as a Hugging Face folder.
struct small_bert {
  redco::bert model;
  redco::tokenizer::any_tokenizer tokenizer;
  redco::save_model_options files;

  /// Returns the words of a text: runs of characters between spaces, and each punctuation mark.
  static std::vector<std::string> words_of(std::string const& text) {
    std::vector<std::string> words(1);
    for (char const c : text) {
      auto const byte = static_cast<unsigned char>(c);
      if (std::isspace(byte) == 0) words.back() += c;
      if (std::isspace(byte) != 0 || std::ispunct(byte) != 0) {
        if (std::ispunct(byte) != 0 && words.back().size() > 1) {
          words.back().pop_back();
          words.emplace_back(1, c);
        }
        words.emplace_back();
      }
    }
    std::erase(words, "");
    return words;
  }

  /// Makes a model with a class for each name. The vocabulary has the words that occur at least
  /// twice in the texts of `train`, which are all its columns but the last one. `context`: largest
  /// number of tokens of an input.
  static small_bert made(redco::data::table const& train, std::vector<std::string> const& names, std::int64_t context) {
    using redco::json::json_value;
    std::map<std::string, std::int64_t> counts;
    for (auto const& row : train.rows)
      for (std::size_t text = 0; text + 1 < row.size(); ++text)
        for (std::string const& word : words_of(row[text])) ++counts[word];
    json_value vocabulary = json_value::object(), added = json_value::array();
    for (std::string const token : {"[PAD]", "[UNK]", "[CLS]", "[SEP]"}) {
      added.push_back({{"id", vocabulary.size()}, {"content", token}, {"special", true}});
      for (char const* const flag : {"single_word", "lstrip", "rstrip", "normalized"}) added.back()[flag] = false;
      vocabulary[token] = vocabulary.size();
    }
    for (auto const& [word, count] : counts)
      if (count > 1 && !vocabulary.contains(word)) vocabulary[word] = vocabulary.size();

    redco::bert const model{{.vocab = std::ssize(vocabulary),
                             .context = context,
                             .width = 64,
                             .ffn = 128,
                             .heads = 4,
                             .layers = 2,
                             .classes = std::ssize(names),
                             .deviation = 0.1}};
    json_value const normal = {{"type", "BertNormalizer"},
                               {"clean_text", true},
                               {"handle_chinese_chars", false},
                               {"strip_accents", false},
                               {"lowercase", false}};
    json_value const pieces = {{"type", "WordPiece"},
                               {"unk_token", "[UNK]"},
                               {"continuing_subword_prefix", "##"},
                               {"max_input_chars_per_word", 100},
                               {"vocab", vocabulary}};
    json_value const around = {{"type", "BertProcessing"}, {"sep", {"[SEP]", 3}}, {"cls", {"[CLS]", 2}}};
    json_value const tokenizer = {
        {"version", "1.0"},         {"added_tokens", added},
        {"normalizer", normal},     {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
        {"post_processor", around}, {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", false}}},
        {"model", pieces}};
    json_value const read = {{"tokenizer_class", "BertTokenizer"},
                             {"do_lower_case", false},
                             {"strip_accents", false},
                             {"tokenize_chinese_chars", false},
                             {"pad_token", "[PAD]"},
                             {"unk_token", "[UNK]"},
                             {"cls_token", "[CLS]"},
                             {"sep_token", "[SEP]"}};
    json_value config = {{"model_type", "bert"},
                         {"architectures", json_value::array({"BertForSequenceClassification"})},
                         {"vocab_size", model.config.vocab},
                         {"max_position_embeddings", model.config.context},
                         {"hidden_size", model.config.width},
                         {"intermediate_size", model.config.ffn},
                         {"num_attention_heads", model.config.heads},
                         {"num_hidden_layers", model.config.layers},
                         {"hidden_dropout_prob", 0.0},
                         {"attention_probs_dropout_prob", 0.0},
                         {"initializer_range", model.config.deviation},
                         {"pad_token_id", 0}};
    for (std::string const& name : names) {
      std::size_t const index = config["label2id"].size();
      config["label2id"][name] = index;
      config["id2label"][std::to_string(index)] = name;
    }
    return {model,
            redco::tokenizer::json_tokenizer::parse(tokenizer.dump(), "the words of the training texts"),
            {.texts = {{"config.json", config.dump(2) + "\n"},
                       {"tokenizer.json", tokenizer.dump(2) + "\n"},
                       {"tokenizer_config.json", read.dump(2) + "\n"}}}};
  }
};
