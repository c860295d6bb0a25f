#pragma once

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
