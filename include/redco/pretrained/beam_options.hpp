#pragma once

#include <redco/pretrained/beam_stop.hpp>

#include <cstdint>
#include <vector>

namespace redco {

/// Options of beam search: lengths, number of beams, scoring and stopping.
struct beam_options {
  std::int64_t max_new_tokens = 32;
  std::int64_t beams = 4;
  std::int64_t results = 1;  ///< number of hypotheses returned per prompt, at most `beams`
  /// Exponent of the length normalisation: a finished hypothesis scores (sum of log-probabilities)
  /// / length^length_penalty.
  double length_penalty = 1;
  /// Factor above 0 on the log-probabilities of ids that the hypothesis already contains, including
  /// prompt and hidden padding.
  double repetition_penalty = 1;
  /// Size n of the n-grams of ids that may not occur twice in a hypothesis, including the prompt. 0
  /// allows all repetitions.
  std::int64_t no_repeat_ngram = 0;
  std::int64_t min_new_tokens = 0;  ///< number of new tokens before which no stop id may occur
  beam_stop stop = beam_stop::when_unlikely;
  std::vector<std::int64_t> stop_ids = {};  ///< ids that finish a hypothesis
  std::int64_t pad = 0;                     ///< id that right-pads the rows
  /// Id forced as the first new token after a prompt of one token, at log-probability 0. -1 forces
  /// none.
  std::int64_t forced_begin = -1;
  /// Id forced as the last of max_new_tokens, at log-probability 0. -1 forces none.
  std::int64_t forced_end = -1;
};

}  // namespace redco
