#pragma once

// A tokenizer that a program makes from its own texts.

#include <redco/tokenizer/tokenizer.hpp>
#include <redco/meta/utf8.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A tokenizer of whole words and bytes. Id 0 pads, and id 1 ends a text. The next 256 ids are the
/// bytes. The last ids are words of the texts that the tokenizer was made from. A word is a run of
/// letters with the space before the run. Other words are written as bytes, so every text can be
/// encoded.
class word_tokenizer {
 public:
  static constexpr std::int64_t padding = 0, end = 1, first_byte = 2, first_word = first_byte + 256;

  /// Makes a vocabulary of the words of `texts` that occur at least twice: the `most` words that
  /// occur most often, or all if there are fewer.
  word_tokenizer(std::span<std::string const> texts, std::size_t most) {
    std::map<std::string, std::int64_t, std::less<>> counts;
    for (std::string_view text : texts)
      for (; !text.empty(); text.remove_prefix(first_piece(text).size())) ++counts[std::string(first_piece(text))];
    std::erase_if(counts, [](auto const& word) { return word.first.size() == 1 || word.second < 2; });
    std::vector<std::pair<std::int64_t, std::string>> ranked;
    for (auto const& [word, count] : counts) ranked.emplace_back(-count, word);
    std::sort(ranked.begin(), ranked.end());
    ranked.resize(std::min(ranked.size(), most));
    for (auto const& [count, word] : ranked) {
      ids_.emplace(word, vocabulary_size());
      words_.push_back(word);
    }
  }

  std::vector<std::int64_t> encode(std::string_view raw, redco::tokenizer::encode_options options = {}) const {
    std::string whole;
    redco::meta::append_well_formed(whole, raw);
    std::vector<std::int64_t> ids;
    for (std::string_view text = whole; !text.empty();) {
      std::string_view const piece = first_piece(text);
      if (auto const word = ids_.find(piece); word != ids_.end()) {
        ids.push_back(word->second);
      } else {
        for (char const byte : piece) ids.push_back(first_byte + static_cast<unsigned char>(byte));
      }
      text.remove_prefix(piece.size());
    }
    if (options.add_special) ids.push_back(end);
    return ids;
  }

  std::string decode(std::span<std::int64_t const> ids, redco::tokenizer::decode_options = {}) const {
    std::string bytes, text;
    for (std::int64_t const id : ids) append(bytes, id, false);
    redco::meta::append_well_formed(text, bytes);
    return text;
  }

  bool append(std::string& bytes, std::int64_t id, bool) const {
    if (id < 0 || id >= vocabulary_size()) return false;
    if (id >= first_word) bytes += words_[static_cast<std::size_t>(id - first_word)];
    else if (id >= first_byte) bytes += static_cast<char>(id - first_byte);
    return true;
  }

  std::int64_t vocabulary_size() const { return first_word + static_cast<std::int64_t>(words_.size()); }
  redco::tokenizer::special_ids const& specials() const { return specials_; }

 private:
  /// Returns the word at the beginning of a text, or its first byte.
  static std::string_view first_piece(std::string_view text) {
    auto const letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0; };
    std::size_t const space = text.front() == ' ' ? 1 : 0;
    std::size_t last = space;
    while (last < text.size() && letter(text[last])) ++last;
    return text.substr(0, last > space ? last : 1);
  }

  std::map<std::string, std::int64_t, std::less<>> ids_;
  std::vector<std::string> words_;
  redco::tokenizer::special_ids specials_{.end = end, .padding = padding, .all = {padding, end}};
};
