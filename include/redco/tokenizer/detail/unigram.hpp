#pragma once

#include <redco/tokenizer/detail/bpe.hpp>
#include <redco/tokenizer/detail/vocabulary.hpp>
#include <redco/meta/utf8.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::tokenizer::detail {

/// A unigram language model (Kudo, 2018), which divides a word into the tokens with the largest sum
/// of scores. If sums are equal, the one that the Viterbi search of the `tokenizers` library finds
/// first wins. A code point without a token scores 10 less than the worst token. Adjacent code
/// points without tokens become one unknown token, or the tokens <0x00> to <0xFF> of their bytes.
class unigram {
 public:
  /// Builds the model from a vocabulary `words`, which must outlive the model. scores[id] is the
  /// score of the token with this id. `unknown` is the id of the unknown token.
  unigram(vocabulary const& words, std::vector<double> scores, std::uint32_t unknown, bool byte_fallback)
      : words_(&words), scores_(std::move(scores)), unknown_(unknown) {
    for (auto const& [text, id] : words.entries())
      if (!text.empty()) pieces_.add(text, id);
    worst_ = std::numeric_limits<double>::infinity();
    for (double const score : scores_) worst_ = std::min(worst_, score);
    if (!byte_fallback) return;
    std::array<std::uint32_t, 256> ids{};
    for (std::size_t b = 0; b < ids.size(); ++b) {
      auto const id = words.find(bpe::byte_token(b));
      if (!id) return;
      ids[b] = *id;
    }
    byte_ids_ = ids;
  }

  /// Appends the token ids of a word to `ids`. The word must not be empty. Takes 24 bytes of memory
  /// per byte of the word.
  void encode(std::string_view word, std::vector<std::int64_t>& ids) const {
    std::vector<node> best(word.size() + 1);
    for (std::size_t at = 0; at < word.size(); at += meta::utf8_size(word[at])) {
      double const score = best[at].score;
      std::size_t const one = meta::utf8_size(word[at]);
      bool covered = false;
      pieces_.prefixes(word.substr(at), [&](std::size_t size, std::uint32_t id) {
        best[at + size].offer(score + scores_[id], at, id);
        covered = covered || size == one;
      });
      if (!covered) best[at + one].offer(score + (worst_ - unknown_cost), at, no_token);
    }
    // Byte ranges of the tokens, from the last to the first
    std::vector<std::pair<std::size_t, std::size_t>> spans;
    bool fuse = false;
    for (std::size_t end = word.size(); end > 0; end = best[end].from) {
      bool const unknown = is_unknown(best[end].id);
      if (fuse && unknown) {
        spans.back().first = best[end].from;
      } else {
        spans.emplace_back(best[end].from, end);
      }
      fuse = unknown;
    }
    for (auto span = spans.rbegin(); span != spans.rend(); ++span)
      append(word.substr(span->first, span->second - span->first), ids);
  }

 private:
  static constexpr double unknown_cost = 10;
  static constexpr std::uint32_t no_token = ~std::uint32_t{0};
  static constexpr std::size_t nowhere = ~std::size_t{0};

  struct node {  // best division of the bytes before a position
    double score = 0;
    std::size_t from = nowhere;  // beginning of the last token of this division
    std::uint32_t id = no_token;

    void offer(double other, std::size_t begin, std::uint32_t token) {
      if (from != nowhere && !(other > score)) return;
      score = other, from = begin, id = token;
    }
  };

  bool is_unknown(std::uint32_t id) const { return id == no_token || id == unknown_; }

  void append(std::string_view piece, std::vector<std::int64_t>& ids) const {
    if (auto const id = words_->find(piece)) return ids.push_back(*id);
    if (byte_ids_) {
      for (char const c : piece) ids.push_back((*byte_ids_)[static_cast<unsigned char>(c)]);
    } else {
      ids.push_back(unknown_);
    }
  }

  vocabulary const* words_;
  std::vector<double> scores_;
  std::uint32_t unknown_;
  std::optional<std::array<std::uint32_t, 256>> byte_ids_;
  byte_trie pieces_;
  double worst_;
};

}  // namespace redco::tokenizer::detail
