#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redco::metrics {

/// A method to compare an answer with the expected answer.
enum class text_comparison : std::uint8_t {
  bytes,  ///< Texts are equal if all bytes are equal
  squad,  ///< Texts are equal if squad_text() of both is equal
};

/// Returns a text as SQuAD's evaluation compares it (Rajpurkar et al. 2016): in lower case, without
/// ASCII punctuation, without the words "a", "an" and "the", with one space between words. The text
/// is UTF-8. Lower case covers Latin up to U+017F, U+1E00 to U+1EFF, Greek from U+0386 to U+03AB,
/// Cyrillic, Armenian and fullwidth letters. A final sigma becomes an ordinary sigma.
std::string squad_text(std::string_view text);

/// Returns the fraction of predictions that equal the expected text, from 0 to 1. SQuAD's
/// evaluation prints a percentage. Throws `error` with exit code 65 if the lists are empty or
/// differ in length.
double exact_match(std::span<std::string const> predicted, std::span<std::string const> expected,
                   text_comparison comparison = text_comparison::bytes);

/// Returns the fraction of predictions that equal at least one of several accepted texts, from 0 to
/// 1. accepted[i] belongs to predicted[i]. Throws `error` with exit code 65 if the lists are empty
/// or differ in length, or a prediction has no accepted text. An unanswerable question of SQuAD 2
/// accepts the empty text.
double exact_match(std::span<std::string const> predicted, std::span<std::vector<std::string> const> accepted,
                   text_comparison comparison = text_comparison::bytes);

inline double exact_match(std::span<std::string const> predicted, std::span<std::string const> expected,
                          text_comparison comparison) {
  std::vector<std::vector<std::string>> lists;
  for (std::string const& one : expected) lists.push_back({one});
  return exact_match(predicted, std::span<std::vector<std::string> const>(lists), comparison);
}

}  // namespace redco::metrics

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/metrics/exact_match.inl.hpp>
#endif
