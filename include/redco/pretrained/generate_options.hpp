#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace redco {

/// How a decoder continues its prompts. Scores are changed in the order of Hugging Face's processors: repetition penalty,
/// no_repeat_ngram, min_new_tokens, temperature, top_k, top_p, min_p. At temperature 0 nothing is drawn, and the last four
/// have no meaning.
struct generate_options {
  std::int64_t max_new_tokens = 32;
  double temperature = 0;  ///< 0: the most likely token; else tokens are drawn from softmax(logits / temperature)
  std::int64_t top_k =
      0;             ///< draw from the k most likely only, and from all that are as likely as the k-th; 0: from all
  double top_p = 1;  ///< (0, 1]: draw from the fewest most likely tokens that together have this probability
  double min_p = 0;  ///< [0, 1]: draw from tokens that are at least this many times as likely as the likeliest
  double repetition_penalty = 1;  ///< above 0: divides positive and multiplies negative logits of ids that the row has,
                                  ///< prompt and hidden padding included
  std::int64_t no_repeat_ngram =
      0;  ///< no so many ids come twice in a row in a row of the batch, prompt included; 0: any may
  std::int64_t min_new_tokens = 0;          ///< no stop id comes before so many
  std::vector<std::int64_t> stop_ids = {};  ///< a row that has produced one of these produces `pad` from then on
  std::int64_t pad = 0;
  std::int64_t forced_begin = -1;  ///< the first id behind a prompt of one token; -1: none
  std::int64_t forced_end = -1;    ///< the id that the last of max_new_tokens takes; -1: none

  /// Called with the new id of each row after every step; false ends the decoding there. One rank of a tensor-parallel
  /// group, its first, makes the call, and all its ranks do what it answers.
  std::function<bool(std::span<std::int64_t const> ids)> on_tokens = {};
};

}  // namespace redco
