#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace redco::detail {

/// Divides positive and multiplies negative scores of the ids in `seen` by `penalty` (Keskar et al. 2019), each id once
/// however often it is there. Ids outside of the vocabulary are none's.
void penalise(std::span<double> scores, std::span<std::int64_t const> seen, double penalty);

/// Sets to -inf the scores of ids with which the last `size` ids would be some that `seen` has already.
void ban_repeated(std::span<double> scores, std::span<std::int64_t const> seen, std::int64_t size);

/// Sets to -inf the scores of `ids`.
void ban(std::span<double> scores, std::span<std::int64_t const> ids);

/// Whether scores of the `step`-th new token are changed at all.
template <class Options>
bool has_rules(Options const& o, std::int64_t step) {
  return o.repetition_penalty != 1 || o.no_repeat_ngram > 0 || (step < o.min_new_tokens && !o.stop_ids.empty());
}

/// Changes the scores of what may follow `seen` as the `step`-th new token, in the order of Hugging Face's processors.
template <class Options>
void apply_rules(std::span<double> scores, std::span<std::int64_t const> seen, Options const& o, std::int64_t step) {
  if (o.repetition_penalty != 1) penalise(scores, seen, o.repetition_penalty);
  if (o.no_repeat_ngram > 0) ban_repeated(scores, seen, o.no_repeat_ngram);
  if (step < o.min_new_tokens) ban(scores, o.stop_ids);
}

/// The id that the `step`-th new token behind a prompt of `length` has to be.
template <class Options>
std::optional<std::int64_t> forced_id(Options const& o, std::int64_t length, std::int64_t step) {
  if (o.forced_end >= 0 && step + 1 == o.max_new_tokens) return o.forced_end;
  if (o.forced_begin >= 0 && length == 1 && step == 0) return o.forced_begin;
  return std::nullopt;
}

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/generate/detail/score_rules.inl.hpp>
#endif
