#pragma once

#include <redco/tokenizer/detail/json_node.hpp>
#include <redco/tokenizer/detail/read_model.hpp>
#include <redco/tokenizer/detail/tokenizer_settings.hpp>
#include <redco/json/value.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace redco::tokenizer::detail {

/// Calls use(value) for the object under `key` of a tokenizer.json, such as "normalizer". If this
/// object is a Sequence, also calls use(value) for each object in the Sequence.
inline void each_part(json::json_value& root, char const* key, std::function<void(json::json_value&)> const& use) {
  if (!root.is_object() || !root.contains(key) || !root[key].is_object()) return;
  json::json_value& part = root[key];
  use(part);
  for (char const* const list : {"normalizers", "pretokenizers", "decoders"})
    if (part.contains(list) && part[list].is_array())
      for (json::json_value& inner : part[list])
        if (inner.is_object()) use(inner);
}

inline bool is_type(json::json_value const& part, std::string_view type) {
  auto const found = part.find("type");
  return found != part.end() && *found == type;
}

/// Adds the tokens that other files of a folder declare to the JSON of its tokenizer.json, with the
/// ids that transformers assigns. A token in the model's vocabulary keeps its id. Any other token
/// gets the next free id. Throws `error` with exit code 65 if a file gives a different id.
inline void add_declared(json::json_value& root, std::vector<declared_token> tokens, std::string const& source) {
  json::json_value& added = root["added_tokens"];
  if (added.is_null()) added = json::json_value::array();
  std::unordered_map<std::string, std::size_t> known;
  std::int64_t last = -1;
  for (std::size_t index = 0; json_node const& token : json_node(added, source + "added_tokens").elements()) {
    last = std::max<std::int64_t>(last, token.at("id").number());
    known.emplace(token.at("content").text(), index++);
  }
  // Content -> id in the model's vocabulary
  std::unordered_map<std::string, std::optional<std::uint32_t>> wanted;
  for (declared_token const& token : tokens)
    if (auto const& content = token.entry["content"]; !known.contains(content)) wanted[content];
  if (wanted.empty() && std::none_of(tokens.begin(), tokens.end(), [](auto const& t) { return t.overrules; })) return;
  json_node const vocabulary = json_node(root, source).at("model").at("vocab");
  for (std::uint32_t index = 0; auto const& [token, value] : vocabulary.value().items()) {
    bool const piece = vocabulary.value().is_array() && value.is_array() && !value.empty() && value[0].is_string();
    auto const found = wanted.find(piece ? value[0].get_ref<std::string const&>() : token);
    if (found != wanted.end()) found->second = piece ? index : json_node::number(value, vocabulary);
    ++index;
  }
  auto const size = static_cast<std::int64_t>(vocabulary.value().size());
  for (declared_token& token : tokens) {
    std::string const content = token.entry["content"];
    if (content.empty()) continue;
    json_node const blamed(token.entry, token.source);
    auto const old = known.find(content);
    std::optional<std::int64_t> id;
    if (old != known.end()) {
      id = added[old->second]["id"].get<std::int64_t>();
    } else if (wanted[content]) {
      id = wanted[content];
    } else {
      id = last >= size ? last + 1 : size;
    }
    if (token.entry.contains("id") && token.entry["id"] != *id)
      blamed.refuse("gives id " + token.entry["id"].dump() + " to the token \"" + content + "\", which has " +
                    std::to_string(*id) + " by tokenizer.json or as the next free id; use files that belong together");
    token.entry["id"] = static_cast<std::uint64_t>(*id);
    if (old == known.end()) {
      known.emplace(content, added.size());
      added.push_back(std::move(token.entry));
      last = std::max(last, *id);
    } else if (token.overrules) {
      added[old->second].update(token.entry);
    }
  }
}

/// Sets `add_prefix_space` (a space before a text) in the JSON of a tokenizer.json, as transformers
/// does. The value comes from tokenizer_config.json, or else from the default of the tokenizer
/// class.
inline void set_prefix_space(json::json_value& root, tokenizer_settings const& settings) {
  auto const setting = settings.node().find("add_prefix_space");
  bool const by_class = settings.kind() == "GPT2" || settings.kind() == "Roberta" || settings.kind() == "Bart";
  if (!setting && !by_class) return;
  bool const wanted = settings.node().flag("add_prefix_space");
  // Transformers does not change a ByteLevel inside a Sequence
  if (root.contains("pre_tokenizer") && root["pre_tokenizer"].is_object() &&
      is_type(root["pre_tokenizer"], "ByteLevel"))
    root["pre_tokenizer"]["add_prefix_space"] = wanted;
}

/// Replaces normalizer, pre-tokenizer and decoder of a LLaMA tokenizer.json by those that
/// LlamaTokenizer of transformers 5 uses regardless of the file. A space precedes a text and, if
/// the setting `legacy` is true, follows each added token. Version 4 reads these parts from
/// tokenizer.json, so ids may differ for texts with a leading space or with added tokens.
inline void set_llama(json::json_value& root, tokenizer_settings const& settings, std::string const& source) {
  if (!settings.is_llama() || model_type(json_node(root, source).at("model")) != "BPE") return;
  bool by_bytes = false, prepends = false;
  for (char const* const key : {"normalizer", "pre_tokenizer", "decoder"})
    each_part(root, key, [&](json::json_value& part) {
      by_bytes = by_bytes || is_type(part, "ByteLevel");
      prepends = prepends || (is_type(part, "Prepend") && part.value("prepend", "") != "") ||
                 (is_type(part, "Metaspace") &&
                  part.value("prepend_scheme", part.value("add_prefix_space", true) ? "always" : "never") != "never");
    });
  if (by_bytes) return;
  json_node const config = settings.node();
  if (!prepends && !config.find("add_prefix_space"))
    json_node(root, source)
        .refuse(
            "puts no space before a text, as transformers 4 reads it; LlamaTokenizer of transformers 5 puts one; set "
            "add_prefix_space in tokenizer_config.json to false or true");
  bool const prefix = config.flag("add_prefix_space", true);
  root["normalizer"] = nullptr;
  root["pre_tokenizer"] = {{"type", "Metaspace"},
                           {"replacement", "\u2581"},
                           {"prepend_scheme", !prefix                 ? "never"
                                              : config.flag("legacy") ? "always"
                                                                      : "first"},
                           {"split", false}};
  root["decoder"] = {{"type", "Sequence"},
                     {"decoders",
                      {{{"type", "Replace"}, {"pattern", {{"String", "\u2581"}}}, {"content", " "}},
                       {{"type", "ByteFallback"}},
                       {{"type", "Fuse"}}}}};
  if (prefix) root["decoder"]["decoders"].push_back({{"type", "Strip"}, {"content", " "}, {"start", 1U}, {"stop", 0U}});
}

/// Sets lower-casing, accent stripping and CJK splitting of a BERT tokenizer in the JSON of its
/// tokenizer.json. Values come from tokenizer_config.json, or else from the defaults of
/// transformers.
inline void set_letters(json::json_value& root, tokenizer_settings const& settings) {
  if (settings.kind() != "Bert" && settings.kind() != "DistilBert") return;
  json_node const config = settings.node();
  each_part(root, "normalizer", [&](json::json_value& part) {
    if (!is_type(part, "BertNormalizer")) return;
    part["lowercase"] = config.flag("do_lower_case", true);
    part["handle_chinese_chars"] = config.flag("tokenize_chinese_chars", true);
    part["strip_accents"] = nullptr;
    if (config.find("strip_accents")) part["strip_accents"] = config.flag("strip_accents");
  });
}

/// Returns true if transformers 5 removes spaces before punctuation from decoded text. The settings
/// must have clean_up_tokenization_spaces = true and, if `bpe` (a BPE model), a second setting =
/// true. Version 4 ignores the second setting, and its default for a folder with BERT's vocab.txt
/// is true.
inline bool cleans_spaces(tokenizer_settings const& settings, bool bpe) {
  constexpr auto key = "clean_up_tokenization_spaces", forced = "_for_bpe_even_though_it_will_corrupt_output";
  return settings.node().flag(key) && (!bpe || settings.node().flag(std::string(key) + forced));
}

/// Throws `error` with exit code 65 if add_bos_token or add_eos_token contradicts the
/// post_processor of a LLaMA tokenizer. In this case transformers 4 and 5 give different ids.
inline void check_ends(json::json_value const& root, tokenizer_settings const& settings) {
  if (settings.kind() != "Llama") return;
  json_node const config = settings.node();
  std::string const text = root.contains("post_processor") ? root["post_processor"].dump() : "";
  for (auto const& [flag, name] : {std::pair("add_bos_token", "bos_token"), std::pair("add_eos_token", "eos_token")}) {
    auto const setting = config.find(flag);
    std::string const token = settings.named(name);
    if (!setting || token.empty()) continue;
    bool const puts = text.find(json::json_value(token).dump()) != std::string::npos;
    if (config.flag(flag) != puts)
      setting->refuse(std::string("is ") + (puts ? "false" : "true") + ", but the post_processor of tokenizer.json " +
                      (puts ? "puts " : "does not put ") + token +
                      " around a text: transformers 4 follows the one and 5 the other; make them agree");
  }
}

/// Changes the JSON of a tokenizer.json as transformers does when it reads a folder with the given
/// settings. `source` names the file in error messages.
inline void lay_over(json::json_value& root, tokenizer_settings const& settings, std::string const& source) {
  json_node(root, source).find("");  // throws if root is not an object
  if (settings.node().flag("split_special_tokens")) settings.node().at("split_special_tokens").refuse_kind("true");
  set_prefix_space(root, settings);
  set_llama(root, settings, source);
  set_letters(root, settings);
  check_ends(root, settings);
  add_declared(root, settings.tokens(), source);
}

}  // namespace redco::tokenizer::detail
