#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace redco::pretrained {

/// A condition that ends beam search for a prompt, once there are as many finished hypotheses
/// (continuations) as beams. The values correspond to true, false and "never" of Hugging Face's
/// early_stopping.
enum class beam_stop {
  when_full,  ///< End the search immediately, even if a better hypothesis might follow
  /// End the search if the best unfinished hypothesis, scored at its current length, is no better
  /// than the worst finished one.
  when_unlikely,
  /// End the search under the condition of when_unlikely. But with a positive length penalty, score
  /// the unfinished hypothesis as if it reached max_new_tokens without losing log-probability.
  when_impossible
};

}  // namespace redco::pretrained

namespace redco {

/// A set of options of decoding, by sampling or by the most likely token. Logits are processed in
/// Hugging Face's order: repetition penalty, no_repeat_ngram, min_new_tokens, temperature, top_k,
/// top_p, min_p. At temperature 0 the most likely token is chosen, and the last four options have
/// no effect.
struct generate_options {
  std::int64_t max_new_tokens = 32;
  /// Temperature of sampling: tokens are drawn from softmax(logits / temperature). 0 chooses the
  /// most likely token.
  double temperature = 0;
  /// Number of most likely tokens to sample from. Tokens that are as likely as the last of these
  /// are included. 0 samples from all tokens.
  std::int64_t top_k = 0;
  /// Probability in (0, 1] that limits sampling to the smallest set of most likely tokens with at
  /// least this total probability.
  double top_p = 1;
  /// Factor in [0, 1] that limits sampling to tokens whose probability is at least min_p times the
  /// largest probability.
  double min_p = 0;
  /// Factor above 0 on the logits of ids that a row already contains: divides positive logits and
  /// multiplies negative logits. Ids of the prompt and of its masked padding count too. 1 changes
  /// nothing.
  double repetition_penalty = 1;
  /// Size n of the n-grams of ids that may not occur twice in a row of the batch, including the
  /// row's prompt. 0 allows all repetitions.
  std::int64_t no_repeat_ngram = 0;
  /// Minimum number of new tokens before a stop id may occur
  std::int64_t min_new_tokens = 0;
  /// Ids that end a row of the batch. A row that has ended produces `pad`.
  std::vector<std::int64_t> stop_ids = {};
  std::int64_t pad = 0;
  /// Id forced as the first new token after a prompt of one token. -1 forces none.
  std::int64_t forced_begin = -1;
  /// Id forced as the last of max_new_tokens new tokens. -1 forces none.
  std::int64_t forced_end = -1;

  /// Function that is called after every step with the new id of each row. If it returns false,
  /// decoding ends. Only the first rank of a tensor-parallel group calls the function; its result
  /// applies to all ranks of the group.
  std::function<bool(std::span<std::int64_t const> ids)> on_tokens = {};
};

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
