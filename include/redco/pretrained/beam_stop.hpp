#pragma once

namespace redco {

/// Condition that ends beam search for a prompt with as many finished hypotheses as beams.
/// Corresponds to true, false and "never" of Hugging Face's early_stopping.
enum class beam_stop {
  when_full,  ///< end immediately, even if a better hypothesis might follow
  /// End if the best running hypothesis, scored at its current length, is no better than the worst
  /// finished one.
  when_unlikely,
  /// Like when_unlikely, but a positive length penalty is applied as if the hypothesis reached
  /// max_new_tokens without losing log-probability.
  when_impossible
};

}  // namespace redco
