#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace redco {

/// Options of decoding by sampling or by the most likely token. Scores are processed in Hugging
/// Face's order: repetition penalty, no_repeat_ngram, min_new_tokens, temperature, top_k, top_p,
/// min_p. At temperature 0 nothing is sampled, and the last four options have no effect.
struct generate_options {
  std::int64_t max_new_tokens = 32;
  /// Sampling temperature: tokens are drawn from softmax(logits / temperature). 0 takes the most
  /// likely token.
  double temperature = 0;
  /// Number of most likely tokens to sample from, plus all tokens as likely as the last of these. 0
  /// samples from all tokens.
  std::int64_t top_k = 0;
  /// Total probability in (0, 1]: samples from the smallest set of most likely tokens with at least
  /// this total probability.
  double top_p = 1;
  /// Relative probability in [0, 1]: samples from tokens whose probability is at least min_p times
  /// the largest probability.
  double min_p = 0;
  /// Factor above 0 for ids that the row already contains, including prompt and hidden padding:
  /// divides positive logits and multiplies negative logits.
  double repetition_penalty = 1;
  /// Size n of the n-grams of ids that may not occur twice in a row of the batch, including the
  /// prompt. 0 allows all repetitions.
  std::int64_t no_repeat_ngram = 0;
  /// Number of new tokens before which no stop id may occur
  std::int64_t min_new_tokens = 0;
  std::vector<std::int64_t> stop_ids = {};  ///< ids that end a row; an ended row produces `pad`
  std::int64_t pad = 0;
  /// Id forced as the first new token after a prompt of one token. -1 forces none.
  std::int64_t forced_begin = -1;
  std::int64_t forced_end = -1;  ///< Id forced as the last of max_new_tokens. -1 forces none.

  /// Called after every step with the new id of each row; returning false ends decoding. Only the
  /// first rank of a tensor-parallel group calls the function; its result applies to all ranks of
  /// the group.
  std::function<bool(std::span<std::int64_t const> ids)> on_tokens = {};
};

}  // namespace redco
