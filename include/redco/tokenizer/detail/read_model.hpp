#pragma once

#include <redco/tokenizer/detail/bpe.hpp>
#include <redco/tokenizer/detail/json_node.hpp>
#include <redco/tokenizer/detail/unigram.hpp>
#include <redco/tokenizer/detail/vocabulary.hpp>
#include <redco/tokenizer/detail/wordpiece.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace redco::tokenizer::detail {

using text_model = std::variant<bpe, wordpiece, unigram>;

/// Throws `error` with exit code 65 if the token id `id` is much larger than the number of `tokens`
/// of a vocabulary, because lists indexed by id would become huge.
inline void check_id(std::uint32_t id, std::size_t tokens, json_node const& blamed) {
  if (id > 16 * tokens + 65536)
    blamed.refuse("has id " + std::to_string(id) + " for one of " + std::to_string(tokens) +
                  " tokens; write the file again with the program that made it");
}

/// Returns the vocabulary of a Unigram model in a tokenizer.json, a list [["token", score], ...]
/// under model.vocab. The index of a token in the list is its id.
inline vocabulary read_pieces(json_node const& node) {
  std::vector<std::pair<std::string, std::uint32_t>> entries;
  std::unordered_set<std::string> seen;
  for (json::json_value const& piece : node.value()) {
    auto const number = static_cast<std::uint32_t>(entries.size());
    bool const sound = piece.is_array() && piece.size() == 2 && piece[0].is_string() && piece[1].is_number();
    if (!sound || !seen.insert(piece[0].get_ref<std::string const&>()).second)
      node.refuse("[" + std::to_string(number) +
                  "] should be a token that no other piece has, and its score; write the file " +
                  "again with the program that made it");
    entries.emplace_back(piece[0].get_ref<std::string const&>(), number);
  }
  return vocabulary(std::move(entries));
}

/// Returns the vocabulary of the model in a tokenizer.json, under model.vocab: {"token": id, ...},
/// or for a Unigram model a list of tokens and scores.
inline vocabulary read_vocabulary(json_node const& node) {
  if (node.value().is_array()) return read_pieces(node);
  if (!node.value().is_object())
    node.refuse("should be a JSON object; write the file again with the program that made it");
  std::vector<std::pair<std::string, std::uint32_t>> entries;
  entries.reserve(node.value().size());
  std::vector<bool> taken;
  for (auto const& [token, value] : node.value().items()) {
    std::uint32_t const id = json_node::number(value, node);
    check_id(id, node.value().size(), node);
    if (id >= taken.size()) taken.resize(id + std::size_t{1});
    if (taken[id])
      node.refuse("gives id " + std::to_string(id) +
                  " to two tokens; write the file again with the program that made it");
    taken[id] = true;
    entries.emplace_back(token, id);
  }
  return vocabulary(std::move(entries));
}

/// Returns the merges of a BPE model in a tokenizer.json: a list under model.merges with elements
/// "left right" or ["left", "right"]. The index of a merge in the list is its rank.
inline merge_table read_merges(json_node const& node, vocabulary const& words) {
  if (!node.value().is_array())
    node.refuse("should be a JSON array; write the file again with the program that made it");
  merge_table merges(node.value().size());
  std::uint32_t rank = 0;
  for (json::json_value const& merge : node.value()) {
    auto const blame = [&](std::string const& why) {
      json_node(merge, node.location() + '[' + std::to_string(rank) + ']')
          .refuse(why + "; write the file again with the program that made it");
    };
    std::string_view left;
    std::string_view right;
    if (merge.is_string()) {
      std::string_view const both = merge.get_ref<std::string const&>();
      std::size_t const space = both.find(' ');
      if (space == std::string_view::npos || both.find(' ', space + 1) != std::string_view::npos)
        blame("should be two tokens with a space between them");
      left = both.substr(0, space);
      right = both.substr(space + 1);
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      left = merge[0].get_ref<std::string const&>();
      right = merge[1].get_ref<std::string const&>();
    } else {
      blame("should be two tokens");
    }
    auto const id = [&](std::string const& token) {
      auto const found = words.find(token);
      if (!found) blame("needs the token \"" + token + "\", which is not in model.vocab");
      return *found;
    };
    std::uint32_t const first = id(std::string(left));
    std::uint32_t const second = id(std::string(right));
    merges.add(first, second, rank, id(std::string(left) += right));
    ++rank;
  }
  return merges;
}

/// Returns the id of a model's token for text that no other token covers, or nullopt if the model
/// in the tokenizer.json has no such token.
inline std::optional<std::uint32_t> read_unknown(json_node const& model, vocabulary const& words) {
  if (auto const number = model.find("unk_id")) {
    if (number->number() >= words.entries().size())
      number->refuse("is the id of no token; write the file again with the program that made it");
    return number->number();
  }
  auto const name = model.find("unk_token");
  if (!name) return std::nullopt;
  auto const id = words.find(name->text());
  if (!id)
    name->refuse("is \"" + name->text() +
                 "\", which is not in model.vocab; write the file again with the program that made it");
  return id;
}

inline bpe read_bpe(json_node const& node, vocabulary const& words, bool byte_level) {
  node.knows({"type", "unk_token", "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges", "dropout",
              "continuing_subword_prefix", "end_of_word_suffix"});
  for (std::string_view const affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (auto const setting = node.find(affix); setting && !setting->text().empty())
      setting->refuse_kind("a part of each word that");
  }
  if (auto const setting = node.find("dropout"); setting && setting->value() != 0)
    setting->refuse_kind("a random choice that");
  bpe::options how{.byte_level = byte_level};
  how.byte_fallback = node.flag("byte_fallback");
  how.fuse_unknown = node.flag("fuse_unk");
  how.ignore_merges = node.flag("ignore_merges");
  how.unknown = read_unknown(node, words);
  return bpe(how, words, read_merges(node.at("merges"), words));
}

inline wordpiece read_wordpiece(json_node const& node, vocabulary const& words) {
  node.knows({"type", "unk_token", "vocab", "continuing_subword_prefix", "max_input_chars_per_word"});
  auto const unknown = read_unknown(node, words);
  if (!unknown) node.refuse("has no unk_token; write the file again with the program that made it");
  auto const prefix = node.find("continuing_subword_prefix");
  auto const most = node.find("max_input_chars_per_word");
  return wordpiece(words, prefix ? prefix->text() : "##", most ? most->number() : 100, *unknown);
}

inline unigram read_unigram(json_node const& node, vocabulary const& words) {
  node.knows({"type", "unk_id", "vocab", "byte_fallback"});
  auto const unknown = read_unknown(node, words);
  if (!unknown) node.refuse("has no unk_id; write the file again with the program that made it");
  std::vector<double> scores;
  for (json::json_value const& piece : node.at("vocab").value()) scores.push_back(piece[1].get<double>());
  return unigram(words, std::move(scores), *unknown, node.flag("byte_fallback"));
}

/// Returns the type of the model in a tokenizer.json, such as "BPE". Old files have no type, which
/// then follows from other keys.
inline std::string model_type(json_node const& node) {
  auto const type = node.find("type");
  return type ? type->text() : node.find("merges") ? "BPE" : "WordPiece";  // old files have no type
}

/// Returns the model (BPE, WordPiece or Unigram) of a tokenizer.json. The model refers to the
/// vocabulary `words`, which must outlive it. `byte_level` is true if the symbols of a BPE model
/// are bytes in GPT-2's byte alphabet.
inline text_model read_model(json_node const& node, vocabulary const& words, bool byte_level) {
  std::string const name = model_type(node);
  if (bool const list = name == "Unigram"; list != node.at("vocab").value().is_array())
    node.at("vocab").refuse(std::string("should be a JSON ") + (list ? "array" : "object") +
                            "; write the file again with the program that made it");
  if (name == "Unigram") return read_unigram(node, words);
  if (name == "BPE") return read_bpe(node, words, byte_level);
  if (name == "WordPiece") return read_wordpiece(node, words);
  node.refuse_kind("of type " + name);
}

}  // namespace redco::tokenizer::detail
