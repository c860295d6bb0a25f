#pragma once

#include <redco/tokenizer/detail/json_node.hpp>
#include <redco/tokenizer/detail/tokenizer_settings.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <redco/diag/error.hpp>
#include <redco/diag/input_file.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace redco::tokenizer::detail {

/// Returns the lines of a file of at most 256 MiB, without line ends. Omits an empty last line.
inline std::vector<std::string> lines_of(std::filesystem::path const& file) {
  std::string const text = diag::input_file(file).text(std::uint64_t{256} << 20);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = std::min(text.find('\n', at), text.size());
    std::string_view line(text.data() + at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    at = end + 1;
  }
  return lines;
}

/// Returns the special token that the settings name under `key`, such as "unk_token", or `fallback`
/// if the settings have no such key.
inline std::string token_or(tokenizer_settings const& settings, char const* key, char const* fallback) {
  std::string const named = settings.named(key);
  return named.empty() ? fallback : named;
}

/// Returns the value of "added_tokens" of a tokenizer.json: the tokens in `names` that occur in
/// `words` (the model's vocabulary), marked as special.
inline json::json_value special_tokens(json::json_value const& words, std::vector<std::string> const& names) {
  json::json_value added = json::json_value::array();
  std::unordered_set<std::string> open(names.begin(), names.end());
  for (auto const& [token, id] : words.items())
    if (open.erase(token) > 0)
      added.push_back({{"id", id}, {"content", token}, {"special", true}, {"lstrip", token == "<mask>"}});
  return added;
}

/// Returns the JSON of a TemplateProcessing post-processor, which puts the token `before` before a
/// text and the token `after` after it. An empty string adds no token.
inline json::json_value text_template(std::string const& before, std::string const& after,
                                      json::json_value const& words) {
  json::json_value single = json::json_value::array(), tokens = json::json_value::object();
  auto const add = [&](std::string const& token) {
    if (token.empty()) return;
    single.push_back({{"SpecialToken", {{"id", token}}}});
    tokens[token] = {{"ids", json::json_value::array({words.value(token, json::json_value())})}};
  };
  add(before);
  single.push_back({{"Sequence", {{"id", "A"}}}});
  add(after);
  return {{"type", "TemplateProcessing"},
          {"single", single},
          {"pair", json::json_value::array()},
          {"special_tokens", tokens}};
}

/// Returns the JSON of the post-processor of BERT or RoBERTa (`type`: BertProcessing or
/// RobertaProcessing), which also joins pairs of texts.
inline json::json_value pair_processing(std::string const& type, std::string const& before, std::string const& after,
                                        json::json_value const& words) {
  auto const named = [&](std::string const& token) {
    return json::json_value::array({token, words.value(token, json::json_value())});
  };
  return {{"type", type}, {"cls", named(before)}, {"sep", named(after)}};
}

/// Returns the content of vocab.json and merges.txt in the form of a tokenizer.json, as
/// transformers does for GPT-2, OPT, RoBERTa, BART and Qwen2. Throws `error` with exit code 65 for
/// any other tokenizer class.
inline json::json_value byte_level_file(std::filesystem::path const& folder, tokenizer_settings const& settings) {
  std::string const& kind = settings.kind();
  bool const framed = kind == "Roberta" || kind == "Bart", split = kind == "Qwen2";
  if (!framed && !split && kind != "GPT2")
    throw error(exit_code::data, folder.string() + " has vocab.json and merges.txt, but its tokenizer_class \"" + kind +
                                     "\" is none of GPT2, Roberta, Bart and Qwen2; save a tokenizer.json there");
  json::json_value words = json::read_json(folder / "vocab.json"), merges = json::json_value::array();
  // Throws if vocab.json is not an object
  json_node(words, (folder / "vocab.json").string() + ": ").find("");
  for (std::string& line : lines_of(folder / "merges.txt"))
    if (!line.empty() && !line.starts_with("#version")) merges.push_back(std::move(line));

  json::json_value const leading = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", !split}};
  json::json_value root = {{"pre_tokenizer", leading}, {"decoder", {{"type", "ByteLevel"}}}};
  if (framed) {
    std::string const begin = token_or(settings, "cls_token", "<s>"), end = token_or(settings, "sep_token", "</s>");
    root["post_processor"] = pair_processing("RobertaProcessing", begin, end, words);
    root["added_tokens"] =
        special_tokens(words, {begin, end, "<s>", "</s>", token_or(settings, "unk_token", "<unk>"),
                               token_or(settings, "pad_token", "<pad>"), token_or(settings, "mask_token", "<mask>")});
  } else {
    std::string const end = token_or(settings, "eos_token", "<|endoftext|>");
    std::string const begin = token_or(settings, "bos_token", split ? "" : "<|endoftext|>");
    root["added_tokens"] = special_tokens(words, {begin, end, token_or(settings, "unk_token", "<|endoftext|>")});
    bool const opens = settings.node().flag("add_bos_token"), closes = settings.node().flag("add_eos_token");
    if (opens || closes) root["post_processor"] = text_template(opens ? begin : "", closes ? end : "", words);
  }
  if (split) {
    constexpr std::string_view pattern =
        "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
        "\\s+(?!\\S)|\\s+";
    root["normalizer"] = {{"type", "NFC"}};
    json::json_value const words_apart = {
        {"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}};
    root["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", json::json_value::array({words_apart, leading})}};
  }
  root["model"] = {{"type", "BPE"}, {"vocab", std::move(words)}, {"merges", std::move(merges)}};
  return root;
}

/// Returns the content of vocab.txt (one token per line) in the form of a tokenizer.json, as
/// transformers does for BERT.
inline json::json_value wordpiece_file(std::filesystem::path const& folder, tokenizer_settings const& settings) {
  std::filesystem::path const file = folder / "vocab.txt";
  json::json_value words = json::json_value::object();
  // Appending to the vector avoids a search per token
  auto& entries = static_cast<std::vector<std::pair<std::string const, json::json_value>>&>(
      words.get_ref<json::json_value::object_t&>());
  std::unordered_set<std::string> seen;
  for (std::string const& token : lines_of(file)) {
    if (!seen.insert(token).second)
      throw error(exit_code::data, file.string() + ":" + std::to_string(entries.size() + 1) + ": the token \"" + token +
                                       "\" is there already; correct the file");
    entries.emplace_back(token, static_cast<std::uint64_t>(entries.size()));
  }
  std::string const begin = token_or(settings, "cls_token", "[CLS]"), end = token_or(settings, "sep_token", "[SEP]");
  std::string const unknown = token_or(settings, "unk_token", "[UNK]");
  json::json_value root = {{"normalizer", {{"type", "BertNormalizer"}}},
                           {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                           {"decoder", {{"type", "WordPiece"}}}};
  root["added_tokens"] = special_tokens(words, {begin, end, unknown, token_or(settings, "pad_token", "[PAD]"),
                                                token_or(settings, "mask_token", "[MASK]")});
  root["post_processor"] = pair_processing("BertProcessing", begin, end, words);
  root["model"] = {{"type", "WordPiece"}, {"unk_token", unknown}, {"vocab", std::move(words)}};
  return root;
}

/// Returns the content of a folder's vocabulary files (vocab.json with merges.txt, or vocab.txt) in
/// the form of a tokenizer.json. Returns nullopt if the folder has no such files.
inline std::optional<json::json_value> from_vocabulary_files(std::filesystem::path const& folder,
                                                             tokenizer_settings const& settings) {
  if (is_there(folder / "vocab.json") && is_there(folder / "merges.txt")) return byte_level_file(folder, settings);
  if (is_there(folder / "vocab.txt")) return wordpiece_file(folder, settings);
  return std::nullopt;
}

}  // namespace redco::tokenizer::detail
