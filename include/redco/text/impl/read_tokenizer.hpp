#pragma once

#include <redco/text/read_tokenizer.hpp>

#include <redco/text/detail/json_node.hpp>
#include <redco/text/json_tokenizer.hpp>
#include <redco/text/sentencepiece_tokenizer.hpp>
#include <redco/text/special_names.hpp>

#include <redco/json/read.hpp>
#include <redco/config.hpp>

#include <string>
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

}  // namespace detail

REDCO_INLINE any_tokenizer read_tokenizer(std::filesystem::path const& folder) {
  auto const there = [](std::filesystem::path const& file) {
    std::error_code ignored;
    return std::filesystem::exists(file, ignored);
  };
  std::filesystem::path const config_file = folder / "tokenizer_config.json";
  json_value const config = there(config_file) ? read_json(config_file) : json_value::object();
  detail::json_node const node(config, config_file.string() + ": ");
  if (there(folder / "tokenizer.json")) {
    special_names const names{.begin = detail::token_named(node, "bos_token"),
                              .end = detail::token_named(node, "eos_token"),
                              .padding = detail::token_named(node, "pad_token"),
                              .unknown = detail::token_named(node, "unk_token")};
    return json_tokenizer(folder / "tokenizer.json", names);
  }
  for (char const* const name : {"tokenizer.model", "spiece.model"}) {
    bool const t5 = std::string_view(name) == "spiece.model";
    if (there(folder / name)) return sentencepiece_tokenizer(folder / name, detail::sentencepiece_options_of(node, t5));
  }
  throw error(exit_code::data, folder.string() +
                                   " has neither tokenizer.json nor tokenizer.model nor spiece.model; copy it "
                                   "there from where the weights come");
}

}  // namespace redco
