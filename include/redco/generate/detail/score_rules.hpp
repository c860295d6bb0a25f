#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace redco::generation::detail {

/// Penalises repetition (Keskar et al. 2019): for each id in `seen`, divides a positive score by
/// `penalty` and multiplies a negative one. Ignores ids outside the vocabulary.
void penalise(std::span<double> scores, std::span<std::int64_t const> seen, double penalty);

/// Sets to -inf the score of each id with which the sequence `seen` would end in an n-gram of
/// `size` ids that it contains already.
void ban_repeated(std::span<double> scores, std::span<std::int64_t const> seen, std::int64_t size);

/// Sets the scores of `ids` to -inf; ids outside the vocabulary are ignored.
void ban(std::span<double> scores, std::span<std::int64_t const> ids);

/// Returns true if an option, such as a repetition penalty, changes the scores of the new token
/// with index `step`.
template <class Options>
bool has_rules(Options const& o, std::int64_t step) {
  return o.repetition_penalty != 1 || o.no_repeat_ngram > 0 || (step < o.min_new_tokens && !o.stop_ids.empty());
}

/// Applies the options' rules, such as the repetition penalty, to the scores of the new token with
/// index `step` after `seen`. The order is that of Hugging Face's logits processors.
template <class Options>
void apply_rules(std::span<double> scores, std::span<std::int64_t const> seen, Options const& o, std::int64_t step) {
  if (o.repetition_penalty != 1) penalise(scores, seen, o.repetition_penalty);
  if (o.no_repeat_ngram > 0) ban_repeated(scores, seen, o.no_repeat_ngram);
  if (step < o.min_new_tokens) ban(scores, o.stop_ids);
}

/// Returns the id that the options force as the new token with index `step` after a prompt of
/// `length` tokens; empty for none.
template <class Options>
std::optional<std::int64_t> forced_id(Options const& o, std::int64_t length, std::int64_t step) {
  if (o.forced_end >= 0 && step + 1 == o.max_new_tokens) return o.forced_end;
  if (o.forced_begin >= 0 && length == 1 && step == 0) return o.forced_begin;
  return std::nullopt;
}

}  // namespace redco::generation::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/generate/detail/score_rules.inl.hpp>
#endif
