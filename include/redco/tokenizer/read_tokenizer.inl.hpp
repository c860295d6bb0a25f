#pragma once

#include <redco/tokenizer/read_tokenizer.hpp>

#include <redco/tokenizer/detail/json_node.hpp>
#include <redco/tokenizer/detail/lay_over.hpp>
#include <redco/tokenizer/detail/tokenizer_settings.hpp>
#include <redco/tokenizer/detail/vocabulary_files.hpp>
#include <redco/tokenizer/json_tokenizer.hpp>
#include <redco/tokenizer/sentencepiece_tokenizer.hpp>

#include <redco/json/read.hpp>
#include <redco/json/value.hpp>
#include <redco/config.hpp>

#include <filesystem>
#include <string>
#include <utility>

namespace redco {

namespace detail {

inline sentencepiece_options sentencepiece_options_of(json_node const& config, bool t5) {
  if (auto const type = config.find("tokenizer_class")) {
    t5 = type->text().starts_with("T5");
    if (!t5 && !type->text().starts_with("Llama"))
      type->refuse_kind("a SentencePiece tokenizer of class " + type->text());
  }
  return {.add_begin = config.flag("add_bos_token", !t5), .add_end = config.flag("add_eos_token", t5)};
}

}  // namespace detail

REDCO_INLINE any_tokenizer read_tokenizer(std::filesystem::path const& folder) {
  detail::tokenizer_settings const settings(folder);
  auto const with_settings = [&](json::json_value root, std::filesystem::path const& file) {
    detail::lay_over(root, settings, file.string() + ": ");
    return json_tokenizer(root, file.string(), settings.names());
  };
  if (auto const file = folder / "tokenizer.json"; detail::is_there(file))
    return with_settings(json::read_json(file), file);
  bool const t5 = !detail::is_there(folder / "tokenizer.model");
  std::filesystem::path const pieces = folder / (t5 ? "spiece.model" : "tokenizer.model");
  if (detail::is_there(pieces))
    return sentencepiece_tokenizer(pieces, detail::sentencepiece_options_of(settings.node(), t5));
  if (auto root = detail::from_vocabulary_files(folder, settings)) return with_settings(*std::move(root), folder);
  throw error(exit_code::data,
              folder.string() +
                  " has neither tokenizer.json nor tokenizer.model nor spiece.model, nor vocab.json with "
                  "merges.txt, nor vocab.txt; copy one there from where the weights come");
}

}  // namespace redco
