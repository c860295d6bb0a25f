#pragma once

#include <redco/tokenizer/detail/vocabulary.hpp>
#include <redco/meta/utf8.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::tokenizer::detail {

/// A WordPiece model, which splits a word into tokens: the longest token at the beginning, then
/// repeatedly the longest continuation token. A word becomes the unknown token if tokens cannot
/// cover it, or if it has more than `most` code points.
class wordpiece {
 public:
  /// Builds the model from a vocabulary `words`, which must outlive the model. `prefix`, such as
  /// "##", marks tokens that continue a word. `most` is the maximum number of code points per word.
  /// `unknown` is the id of the unknown token.
  wordpiece(vocabulary const& words, std::string prefix, std::size_t most, std::uint32_t unknown)
      : words_(&words), prefix_(std::move(prefix)), most_(most), unknown_(unknown) {
    for (auto const& entry : words.entries()) longest_ = std::max(longest_, entry.first.size());
  }

  void encode(std::string_view word, std::vector<std::int64_t>& ids) const {
    std::size_t const old = ids.size();
    if (code_points(word) > most_) return ids.push_back(unknown_);
    std::string piece;
    for (std::size_t begin = 0; begin < word.size();) {
      piece = begin == 0 ? std::string() : prefix_;
      std::size_t const front = piece.size();
      piece += word.substr(begin, longest_);
      while (piece.size() > front && begin + piece.size() - front < word.size() &&
             continues(word[begin + piece.size() - front]))
        piece.pop_back();  // removes the bytes of an incomplete code point at the end
      while (piece.size() > front) {
        if (auto const id = words_->find(piece)) {
          ids.push_back(*id);
          break;
        }
        while (continues(piece.back())) piece.pop_back();
        piece.pop_back();
      }
      if (piece.size() <= front) {
        ids.resize(old);
        return ids.push_back(unknown_);
      }
      begin += piece.size() - front;
    }
  }

 private:
  static bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80; }
  static std::size_t code_points(std::string_view word) {
    return word.size() - static_cast<std::size_t>(std::count_if(word.begin(), word.end(), continues));
  }

  vocabulary const* words_;
  std::string prefix_;
  std::size_t most_;
  std::uint32_t unknown_;
  std::size_t longest_ = 0;  // size in bytes of the longest token
};

}  // namespace redco::tokenizer::detail
