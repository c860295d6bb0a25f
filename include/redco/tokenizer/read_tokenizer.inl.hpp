#pragma once

#include <redco/tokenizer/read_tokenizer.hpp>

#include <redco/tokenizer/detail/json_node.hpp>
#include <redco/tokenizer/json_tokenizer.hpp>
#include <redco/tokenizer/sentencepiece_tokenizer.hpp>
#include <redco/tokenizer/special_names.hpp>

#include <redco/json/read.hpp>
#include <redco/config.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace redco {

namespace detail {

/// A token in tokenizer_config.json: a string, or an object with its content.
inline std::string token_named(json_node const& config, std::string_view key) {
  auto const found = config.find(key);
  if (!found) return {};
  return found->value().is_object() ? found->at("content").text() : found->text();
}

inline sentencepiece_options sentencepiece_options_of(json_node const& config, bool t5) {
  if (auto const type = config.find("tokenizer_class")) {
    t5 = type->text().starts_with("T5");
    if (!t5 && !type->text().starts_with("Llama"))
      type->refuse_kind("a SentencePiece tokenizer of class " + type->text());
  }
  return {.add_begin = config.flag("add_bos_token", !t5), .add_end = config.flag("add_eos_token", t5)};
}

/// Whether a tokenizer.json asks for SentencePiece's own algorithm.
inline bool is_unigram(std::filesystem::path const& file) {
  json::json_value const root = json::read_json(file);
  auto const model = json_node(root, file.string() + ": ").find("model");
  auto const type = model ? model->find("type") : std::nullopt;
  return type && type->text() == "Unigram";
}

}  // namespace detail

REDCO_INLINE any_tokenizer read_tokenizer(std::filesystem::path const& folder) {
  auto const there = [](std::filesystem::path const& file) {
    std::error_code ignored;
    return std::filesystem::exists(file, ignored);
  };
  std::filesystem::path const config_file = folder / "tokenizer_config.json";
  json::json_value const config = there(config_file) ? json::read_json(config_file) : json::json_value::object();
  detail::json_node const node(config, config_file.string() + ": ");

  std::filesystem::path const json_file = folder / "tokenizer.json";
  bool const t5 = !there(folder / "tokenizer.model");
  std::filesystem::path const piece_file = folder / (t5 ? "spiece.model" : "tokenizer.model");
  bool const has_pieces = there(piece_file);
  if (there(json_file) && !(has_pieces && detail::is_unigram(json_file))) {
    special_names const names{.begin = detail::token_named(node, "bos_token"),
                              .end = detail::token_named(node, "eos_token"),
                              .padding = detail::token_named(node, "pad_token"),
                              .unknown = detail::token_named(node, "unk_token")};
    return json_tokenizer(json_file, names);
  }
  if (has_pieces) return sentencepiece_tokenizer(piece_file, detail::sentencepiece_options_of(node, t5));
  throw error(exit_code::data, folder.string() +
                                   " has neither tokenizer.json nor tokenizer.model nor spiece.model; copy it "
                                   "there from where the weights come");
}

}  // namespace redco
