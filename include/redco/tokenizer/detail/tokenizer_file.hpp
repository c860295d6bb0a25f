#pragma once

#include <redco/tokenizer/detail/added_tokens.hpp>
#include <redco/tokenizer/detail/json_node.hpp>
#include <redco/tokenizer/detail/normalizer.hpp>
#include <redco/tokenizer/detail/read_model.hpp>
#include <redco/tokenizer/detail/splitter.hpp>
#include <redco/tokenizer/detail/token_decoder.hpp>
#include <redco/tokenizer/detail/word_cache.hpp>
#include <redco/tokenizer/tokenizer.hpp>
#include <redco/meta/utf8.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace redco::tokenizer::detail {

/// A set of all parts of a tokenizer.json: model, normalizer, pre-tokenizer, added tokens,
/// post-processor and decoder.
class tokenizer_file {
 public:
  tokenizer_file(json_node const& root, special_names const& names)
      : words_(read_vocabulary(root.at("model").at("vocab"))),
        normalize_(root.find("normalizer") ? normalizer(root.at("normalizer")) : normalizer()),
        split_(root.find("pre_tokenizer") ? splitter(root.at("pre_tokenizer")) : splitter()),
        model_(read_model(root.at("model"), words_, split_.byte_level())) {
    root.knows({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
                "decoder", "model"});
    token_decoder const text_of(root.find("decoder"));
    for (auto const& [token, id] : words_.entries()) name(id, token, text_of);
    if (auto const added = root.find("added_tokens")) read_added(*added, text_of);
    if (auto const processor = root.find("post_processor")) {
      frame_.read(*processor);
      for (auto const* const side : {&frame_.before, &frame_.after}) {
        for (std::int64_t const id : *side) check_frame(id, *processor);
      }
      for (special_frame::piece const& piece : frame_.pair)
        if (piece.text < 0) check_frame(piece.id, *processor);
    }
    std::sort(specials_.all.begin(), specials_.all.end());
    specials_.begin = role(names.begin, root);
    specials_.end = role(names.end, root);
    specials_.padding = role(names.padding, root);
    specials_.unknown = role(names.unknown, root);
    if (!specials_.unknown) specials_.unknown = read_unknown(root.at("model"), words_);
  }
  // Not copyable, because the model points to the vocabulary
  tokenizer_file(tokenizer_file const&) = delete;
  tokenizer_file& operator=(tokenizer_file const&) = delete;

  std::vector<std::int64_t> encode(std::string_view text, encode_options options) const {
    std::string repaired;
    if (meta::well_formed_prefix(text) != text.size()) {
      meta::append_well_formed(repaired, text);
      text = repaired;
    }
    std::vector<std::int64_t> ids;
    if (options.add_special) ids = frame_.before;
    splitter::searches searches(split_);
    bpe::scratch lists;
    auto const add_id = [&](std::uint32_t id) { ids.push_back(id); };
    auto const add_words = [&](std::string_view part, bool at_front) {
      split_(part, at_front, searches, [&](std::string_view word) {
        if (cache_.find(word, ids)) return;
        std::size_t const old = ids.size();
        if (auto const* const pairs = std::get_if<bpe>(&model_)) {
          pairs->encode(word, ids, lists);
        } else if (auto const* const pieces = std::get_if<wordpiece>(&model_)) {
          pieces->encode(word, ids);
        } else {
          std::get<unigram>(model_).encode(word, ids);
        }
        cache_.keep(word, std::span(ids).subspan(old));
      });
    };
    as_written_.split(
        text, options.find_special,
        [&](std::string_view part) {
          bool at_front = part.data() == text.data();
          std::string normal;
          if (!normalize_.empty()) {
            // If normalization drops the first code point, the rest of the text does not count as
            // the beginning of the text. The `tokenizers` library does the same.
            at_front = at_front && !normalize_(std::string(part.substr(0, meta::utf8_size(part[0])))).empty();
            normal = normalize_(std::string(part));
            part = normal;
          }
          normalized_.split(
              part, options.find_special,
              [&](std::string_view rest) { add_words(rest, at_front && rest.data() == part.data()); }, add_id);
        },
        add_id);
    if (options.add_special) ids.insert(ids.end(), frame_.after.begin(), frame_.after.end());
    return ids;
  }

  pair_encoding encode_pair(std::string_view first, std::string_view second, std::int64_t most) const {
    return frame_.joined({encode(first, {.add_special = false}), encode(second, {.add_special = false})}, most);
  }

  bool append(std::string& bytes, std::int64_t id, bool first) const {
    if (id < 0 || static_cast<std::size_t>(id) >= known_.size() || !known_[static_cast<std::size_t>(id)]) return false;
    auto const& texts = first && !first_texts_.empty() ? first_texts_ : texts_;
    bytes += texts[static_cast<std::size_t>(id)];
    return true;
  }

  std::optional<std::int64_t> find(std::string_view token) const {
    for (added_token const& added : added_) {
      if (added.content == token) return added.id;
    }
    return words_.find(token);
  }

  std::size_t rows() const { return known_.size(); }  ///< Returns the largest token id plus one
  special_ids const& specials() const { return specials_; }

 private:
  void name(std::uint32_t id, std::string const& token, token_decoder const& text_of) {
    std::size_t const rows = std::max(known_.size(), id + std::size_t{1});
    known_.resize(rows);
    known_[id] = true;
    texts_.resize(rows);
    texts_[id] = text_of(token, false);
    if (!text_of.minds_first()) return;
    first_texts_.resize(rows);
    first_texts_[id] = text_of(token, true);
  }

  void read_added(json_node const& list, token_decoder const& text_of) {
    for (json_node const& node : list.elements()) {
      node.knows({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
      added_token token{.content = node.at("content").text(), .id = node.at("id").number()};
      if (token.content.empty()) continue;
      token.special = node.flag("special");
      token.single_word = node.flag("single_word");
      token.strips_left = node.flag("lstrip");
      token.strips_right = node.flag("rstrip");
      auto const known = words_.find(token.content);
      bool const contradicts = known ? *known != token.id : token.id < known_.size() && known_[token.id];
      if (contradicts)
        node.refuse("(\"" + token.content + "\") has id " + std::to_string(token.id) +
                    ", which contradicts the tokens before it; write the file again with the program that made it");
      check_id(token.id, words_.entries().size() + list.value().size(), node);
      name(token.id, token.content, text_of);
      if (token.special) specials_.all.push_back(token.id);
      added_.push_back(token);
      bool const normalized = node.flag("normalized");
      if (normalized) token.content = normalize_(token.content);
      if (!token.content.empty()) (normalized ? normalized_ : as_written_).add(std::move(token));
    }
  }

  void check_frame(std::int64_t id, json_node const& blamed) const {
    if (static_cast<std::size_t>(id) >= known_.size() || !known_[static_cast<std::size_t>(id)])
      blamed.refuse("puts id " + std::to_string(id) +
                    " around a text, which no token has; write the file again with the "
                    "program that made it");
  }

  std::optional<std::int64_t> role(std::string const& token, json_node const& root) const {
    if (token.empty()) return std::nullopt;
    auto const id = find(token);
    if (!id)
      root.refuse("has no token \"" + token + "\", which tokenizer_config.json names; use files that belong together");
    return id;
  }

  vocabulary words_;
  normalizer normalize_;
  splitter split_;
  text_model model_;
  std::vector<added_token> added_;
  // Tokens that are searched for before normalization. The tokens of normalized_ are searched for
  // after normalization.
  added_tokens as_written_;
  added_tokens normalized_;
  special_frame frame_;
  std::vector<bool> known_;         // id -> true if a token has this id
  std::vector<std::string> texts_;  // id -> bytes that the token represents
  // Id -> bytes that the token represents at the beginning of a text; empty if equal to texts_
  std::vector<std::string> first_texts_;
  special_ids specials_;
  word_cache cache_;
};

}  // namespace redco::tokenizer::detail
