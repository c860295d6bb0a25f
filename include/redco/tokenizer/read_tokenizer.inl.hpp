#pragma once

#include <redco/tokenizer/read_tokenizer.hpp>

#include <redco/tokenizer/detail/json_node.hpp>
#include <redco/tokenizer/detail/lay_over.hpp>
#include <redco/tokenizer/detail/sentencepiece.hpp>
#include <redco/tokenizer/detail/tokenizer_settings.hpp>
#include <redco/tokenizer/detail/vocabulary_files.hpp>
#include <redco/tokenizer/json_tokenizer.hpp>
#include <redco/tokenizer/sentencepiece_tokenizer.hpp>

#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/config.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace redco::tokenizer::detail {

/// Returns the added tokens of a SentencePiece tokenizer, which transformers searches for before
/// the model reads a text. They are the model's control tokens, the tokens that the folder declares
/// and, for T5, <extra_id_99> to <extra_id_0> with ids after the model's vocabulary.
inline std::vector<sentencepiece_token> tokens_of_folder(std::filesystem::path const& file,
                                                         tokenizer_settings const& settings, bool t5) {
  sentencepiece_model const model(file);
  json::json_value pieces = json::json_value::array(), known = json::json_value::array();
  bool has_extra = false;
  for (int id = 0; id < model.size(); ++id) {
    std::string const piece = model.piece(id);
    pieces.push_back(json::json_value::array({piece, 0}));
    has_extra = has_extra || piece.starts_with("<extra_id_");
    if (model.is_control(id))
      known.push_back({{"id", static_cast<std::uint64_t>(id)}, {"content", piece}, {"special", true}});
  }
  auto const extra = settings.node().find("extra_ids");
  for (std::uint32_t left = !t5 || has_extra ? 0 : extra ? extra->number() : 100, id = 0; left > 0; ++id)
    known.push_back({{"id", static_cast<std::uint64_t>(pieces.size()) + id},
                     {"content", "<extra_id_" + std::to_string(--left) + ">"},
                     {"special", true}});
  json::json_value root = {{"model", {{"vocab", std::move(pieces)}}}, {"added_tokens", std::move(known)}};
  add_declared(root, settings.tokens(), file.string() + ": ");
  std::vector<sentencepiece_token> tokens;
  for (json::json_value const& token : root["added_tokens"]) {
    json_node const node(token, file.string());
    // Encodes text, so it is not searched for
    if (node.at("id").number() == static_cast<std::uint32_t>(model.unknown_id())) continue;
    tokens.push_back({.content = node.at("content").text(),
                      .id = node.at("id").number(),
                      .special = node.flag("special"),
                      .single_word = node.flag("single_word"),
                      .strips_left = node.flag("lstrip"),
                      .strips_right = node.flag("rstrip")});
  }
  return tokens;
}

/// Returns the rule by which a tokenizer puts a space before text. For LlamaTokenizer, it is the
/// rule of transformers 5. For any other class, the SentencePiece model decides.
inline prefix_space prefix_of(tokenizer_settings const& settings) {
  if (!settings.is_llama()) return prefix_space::by_model;
  if (!settings.node().flag("add_prefix_space", true)) return prefix_space::nowhere;
  return settings.node().flag("legacy") ? prefix_space::each_part : prefix_space::first_part;
}

inline sentencepiece_options sentencepiece_options_of(std::filesystem::path const& file,
                                                      tokenizer_settings const& settings, bool t5) {
  if (!settings.kind().empty()) {
    t5 = settings.kind() == "T5";
    if (!t5 && settings.kind() != "Llama")
      settings.node().refuse_kind("a SentencePiece tokenizer of class " + settings.kind() + "Tokenizer");
  }
  json_node const config = settings.node();
  return {.add_begin = config.flag("add_bos_token", !t5),
          .add_end = config.flag("add_eos_token", t5),
          .added = tokens_of_folder(file, settings, t5),
          .names = settings.names(),
          .cleans_spaces = cleans_spaces(settings, !t5),
          .prefix = prefix_of(settings)};
}

}  // namespace redco::tokenizer::detail

namespace redco {

REDCO_INLINE tokenizer::any_tokenizer read_tokenizer(std::filesystem::path const& folder) {
  tokenizer::detail::tokenizer_settings const settings(folder);
  if (settings.kind() == "CodeLlama")
    settings.node().refuse(
        "names the class CodeLlamaTokenizer, which rearranges a text with <FILL_ME> and is not computed here; for "
        "texts without it set tokenizer_class to LlamaTokenizer, add_bos_token to true and legacy to false");
  auto const with_settings = [&](json::json_value root, std::filesystem::path const& file) {
    tokenizer::detail::lay_over(root, settings, file.string() + ": ");
    bool const bpe =
        tokenizer::detail::model_type(tokenizer::detail::json_node(root, file.string() + ": ").at("model")) == "BPE";
    return tokenizer::json_tokenizer(root, file.string(), settings.names(),
                                     tokenizer::detail::cleans_spaces(settings, bpe));
  };
  if (auto const file = folder / "tokenizer.json"; tokenizer::detail::is_there(file))
    return with_settings(json::read_json(file), file);
  bool const t5 = !tokenizer::detail::is_there(folder / "tokenizer.model");
  std::filesystem::path const pieces = folder / (t5 ? "spiece.model" : "tokenizer.model");
  if (tokenizer::detail::is_there(pieces))
    return tokenizer::sentencepiece_tokenizer(pieces,
                                              tokenizer::detail::sentencepiece_options_of(pieces, settings, t5));
  if (auto root = tokenizer::detail::from_vocabulary_files(folder, settings))
    return with_settings(*std::move(root), folder);
  throw error(exit_code::data,
              folder.string() +
                  " has neither tokenizer.json nor tokenizer.model nor spiece.model, nor vocab.json with "
                  "merges.txt, nor vocab.txt; copy one there from where the weights come");
}

}  // namespace redco
