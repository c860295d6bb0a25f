#pragma once

namespace redco {

/// When beam search is done with a prompt that has as many finished hypotheses as beams. Hugging Face's early_stopping of true,
/// false and "never".
enum class beam_stop {
  when_full,      ///< at once, though a better hypothesis might come
  when_unlikely,  ///< when the best running hypothesis would not be better if it ended now
  when_impossible  ///< the same if it ended now or, with a positive length penalty, at the last of max_new_tokens for nothing
};

}  // namespace redco
