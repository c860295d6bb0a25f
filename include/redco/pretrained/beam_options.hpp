#pragma once

#include <redco/pretrained/beam_stop.hpp>

#include <cstdint>
#include <vector>

namespace redco {

/// How beam search continues its prompts.
struct beam_options {
  std::int64_t max_new_tokens = 32;
  std::int64_t beams = 4;
  std::int64_t results = 1;   ///< hypotheses of each prompt that are given back, at most `beams`
  double length_penalty = 1;  ///< a finished hypothesis scores the sum of its log-probabilities / length^length_penalty
  double repetition_penalty = 1;  ///< above 0: multiplies log-probabilities of ids that the hypothesis has, prompt and
                                  ///< hidden padding included
  std::int64_t no_repeat_ngram =
      0;                            ///< no so many ids come twice in a row in a hypothesis, prompt included; 0: any may
  std::int64_t min_new_tokens = 0;  ///< no stop id comes before so many
  beam_stop stop = beam_stop::when_unlikely;
  std::vector<std::int64_t> stop_ids = {};  ///< a hypothesis that has produced one of these is finished
  std::int64_t pad = 0;                     ///< right-pads the rows
  std::int64_t forced_begin = -1;  ///< the first id behind a prompt of one token, at log-probability 0; -1: none
  std::int64_t forced_end = -1;    ///< the id that the last of max_new_tokens takes, at log-probability 0; -1: none
};

}  // namespace redco
