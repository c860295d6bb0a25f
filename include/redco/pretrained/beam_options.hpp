#pragma once

#include <redco/pretrained/beam_stop.hpp>

#include <cstdint>
#include <vector>

namespace redco {

/// A set of options of beam search: lengths, number of beams, scoring and stopping. A hypothesis is
/// one of the continuations of a prompt that the search compares.
struct beam_options {
  std::int64_t max_new_tokens = 32;
  std::int64_t beams = 4;
  /// Number of hypotheses (continuations) returned per prompt; at most `beams`.
  std::int64_t results = 1;
  /// Exponent for the normalization by length. A finished hypothesis (continuation) scores (sum of
  /// log-probabilities) / length^length_penalty.
  double length_penalty = 1;
  /// Factor above 0 on the log-probability of each id that the hypothesis (continuation) already
  /// contains. Ids of the prompt and of its masked padding count too. 1 changes nothing.
  double repetition_penalty = 1;
  /// Size n of the n-grams of ids that may not occur twice in a hypothesis (continuation) with its
  /// prompt. 0 allows all repetitions.
  std::int64_t no_repeat_ngram = 0;
  std::int64_t min_new_tokens = 0;  ///< Minimum number of new tokens before a stop id may occur
  pretrained::beam_stop stop = pretrained::beam_stop::when_unlikely;
  /// Ids that finish a hypothesis (a continuation of a prompt).
  std::vector<std::int64_t> stop_ids = {};
  std::int64_t pad = 0;  ///< Id that fills short rows of the result at the right
  /// Id forced as the first new token after a prompt of one token, with log-probability 0. -1
  /// forces none.
  std::int64_t forced_begin = -1;
  /// Id forced as the last of max_new_tokens new tokens, with log-probability 0. -1 forces none.
  std::int64_t forced_end = -1;
};

}  // namespace redco
