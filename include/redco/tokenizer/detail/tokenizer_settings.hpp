#pragma once

#include <redco/tokenizer/detail/json_node.hpp>
#include <redco/tokenizer/tokenizer.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace redco::tokenizer::detail {

inline bool is_there(std::filesystem::path const& file) {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored);
}

/// A token that a file other than tokenizer.json declares, converted to an element of
/// "added_tokens" in tokenizer.json.
struct declared_token {
  json::json_value entry;  ///< Content and flags of the token, and the id if a file gives one
  std::string source;      ///< File and key that declare the token, for error messages
  /// True if the flags of this token replace the flags of an equal token in tokenizer.json.
  bool overrules = false;
};

/// The settings of a tokenizer in a folder, except tokenizer.json, read as transformers reads them.
/// The files are tokenizer_config.json and, if tokenizer_config.json has no key
/// added_tokens_decoder, also special_tokens_map.json and added_tokens.json.
class tokenizer_settings {
 public:
  explicit tokenizer_settings(std::filesystem::path const& folder)
      : file_(folder / "tokenizer_config.json"),
        config_(is_there(file_) ? json::read_json(file_) : json::json_value::object()),
        listed_(node().find("added_tokens_decoder").has_value()) {
    if (auto const map = folder / "special_tokens_map.json"; !listed_ && is_there(map))
      merge(json::read_json(map), map);
    if (auto const added = folder / "added_tokens.json"; !listed_ && is_there(added)) {
      added_ = json::read_json(added);
      added_file_ = added;
      json_node(added_, added.string() + ": ").find("");  // throws if the file is not a JSON object
    }
    kind_ = find_kind(folder);
  }

  /// Returns the JSON of tokenizer_config.json. If special_tokens_map.json was read, its special
  /// tokens replace those of tokenizer_config.json. Returns an empty object if the folder has
  /// neither file.
  json_node node() const { return json_node(config_, file_.string() + ": "); }

  /// Returns the name of the tokenizer class in transformers without "Tokenizer" or
  /// "TokenizerFast", such as "GPT2". If no file names a class, returns the class that belongs to
  /// the model_type in config.json. Returns an empty string if both are unknown.
  std::string const& kind() const { return kind_; }
  /// Returns true if transformers 5 reads the folder with the class LlamaTokenizer: a file names
  /// this class, and the model is not Mistral. For Mistral models transformers uses tokenizer.json
  /// unchanged.
  bool is_llama() const { return is_llama_; }

  /// Returns the content of the special token under `key`, such as "eos_token", or an empty string
  /// if the settings have no such key.
  std::string named(std::string_view key) const {
    auto const found = node().find(key);
    if (!found) return {};
    return found->value().is_object() ? found->at("content").text() : found->text();
  }
  special_names names() const {
    return {.begin = named("bos_token"),
            .end = named("eos_token"),
            .padding = named("pad_token"),
            .unknown = named("unk_token")};
  }

  /// Returns the tokens that the settings declare, in the order in which transformers adds them.
  /// Tokens with ids come first, in ascending order of id; tokens named under keys such as
  /// "eos_token" follow.
  std::vector<declared_token> tokens() const {
    std::vector<declared_token> all = with_ids(), named = named_tokens();
    for (declared_token& token : all)
      for (declared_token const& other : named)
        if (other.entry["content"] == token.entry["content"]) {
          token.entry["special"] = true;
          if (!token.overrules) token.entry["normalized"] = false;
        }
    all.insert(all.end(), std::make_move_iterator(named.begin()), std::make_move_iterator(named.end()));
    return all;
  }

 private:
  static constexpr std::string_view lists[] = {"additional_special_tokens", "extra_special_tokens"};

  // Named tokens of special_tokens_map.json replace those of tokenizer_config.json. Lists of both
  // files are joined.
  void merge(json::json_value map, std::filesystem::path const& file) {
    json_node(map, file.string() + ": ").find("");
    for (auto& [key, value] : map.items()) {
      bool const joins = std::find(std::begin(lists), std::end(lists), key) != std::end(lists) && value.is_array() &&
                         config_.contains(key) && config_[key].is_array();
      if (!joins) {
        config_[key] = std::move(value);
        continue;
      }
      for (auto& token : value)
        if (std::find(config_[key].begin(), config_[key].end(), token) == config_[key].end())
          config_[key].push_back(std::move(token));
    }
  }

  // Returns {"content": ..., "special": ...} with the flags of the token. `special` is the default
  // for a token that does not set this flag.
  static json::json_value entry_of(json_node const& token, bool special) {
    json::json_value entry = json::json_value::object();
    entry["content"] = token.value().is_object() ? token.at("content").text() : token.text();
    for (char const* const flag : {"single_word", "lstrip", "rstrip"})
      entry[flag] = token.value().is_object() && token.flag(flag);
    bool const object = token.value().is_object();
    special = object ? token.flag("special", special) : special;
    entry["special"] = special;
    entry["normalized"] = object ? token.flag("normalized", !special) : !special;
    return entry;
  }

  std::vector<declared_token> with_ids() const {
    std::vector<declared_token> all;
    if (listed_) {
      json_node const list = node().at("added_tokens_decoder");
      for (auto const& [number, value] : list.value().items()) {
        json_node const token(value, list.location() + "." + number);
        declared_token& one = all.emplace_back(declared_token{entry_of(token, false), token.location(), true});
        bool const whole = !number.empty() && number.size() < 10 &&
                           std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (!whole) token.refuse("has a key that is no id; write the file again with the program that made it");
        one.entry["id"] = std::stoul(number);
      }
    }
    for (auto const& [content, id] : added_.items()) {
      json_node const blamed(id, added_file_.string() + ": " + content);
      json::json_value const text = content;
      declared_token& one =
          all.emplace_back(declared_token{entry_of(json_node(text, ""), false), blamed.location(), false});
      one.entry["id"] = blamed.number();
    }
    std::stable_sort(all.begin(), all.end(),
                     [](auto const& a, auto const& b) { return a.entry["id"] < b.entry["id"]; });
    return all;
  }

  std::vector<declared_token> named_tokens() const {
    std::vector<declared_token> all;
    auto const add = [&](json_node const& token) {
      json::json_value entry = entry_of(token, true);
      entry["special"] = true;
      all.push_back({std::move(entry), token.location(), false});
    };
    for (char const* const key :
         {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"})
      if (auto const token = node().find(key)) add(*token);
    for (std::string_view const key : lists) {
      auto const list = node().find(key);
      if (!list) continue;
      for (auto const& [name, value] : list->value().items()) add(json_node(value, list->location() + "." + name));
    }
    return all;
  }

  std::string find_kind(std::filesystem::path const& folder) {
    auto const stem = [](std::string name) {
      for (std::string_view const end : {"Fast", "Tokenizer"})
        if (name.ends_with(end)) name.resize(name.size() - end.size());
      return name;
    };
    std::filesystem::path const file = folder / "config.json";
    json::json_value const model = is_there(file) ? json::read_json(file) : json::json_value::object();
    json_node const config(model, file.string() + ": ");
    auto const type = config.find("model_type");
    for (json_node const& source : {node(), config})
      if (auto const named = source.find("tokenizer_class")) {
        is_llama_ = stem(named->text()) == "Llama" && !(type && type->text() == "mistral");
        return stem(named->text());
      }
    constexpr std::pair<std::string_view, std::string_view> kinds[] = {{"gpt2", "GPT2"},
                                                                       {"opt", "GPT2"},
                                                                       {"roberta", "Roberta"},
                                                                       {"bart", "Bart"},
                                                                       {"bert", "Bert"},
                                                                       {"t5", "T5"},
                                                                       {"distilbert", "DistilBert"},
                                                                       {"llama", "Llama"},
                                                                       {"mistral", "Llama"},
                                                                       {"qwen2", "Qwen2"},
                                                                       {"qwen3", "Qwen2"}};
    for (auto const& [name, kind] : kinds)
      if (type && type->text() == name) return std::string(kind);
    return {};
  }

  std::filesystem::path file_, added_file_;
  json::json_value config_;
  bool listed_;  // tokenizer_config.json lists the added tokens, so no other file is read
  json::json_value added_ = json::json_value::object();
  std::string kind_;
  bool is_llama_ = false;
};

}  // namespace redco::tokenizer::detail
