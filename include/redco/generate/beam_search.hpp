#pragma once

#include <redco/generate/decoding.hpp>
#include <redco/nn/logits.hpp>
#include <redco/nn/network.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/pretrained/generate_options.hpp>

#include <cstdint>

namespace redco::generation::detail {

/// The hypotheses (token sequences) of a beam search for B prompts with n beams each: the running
/// ones, and the best finished ones.
class beams {
 public:
  /// Begins a beam search. `first_prompt`: global index of the first prompt, for error messages.
  /// Throws `error` with exit code 64 for options out of range.
  beams(at::Tensor const& prompts, beam_options const& options, std::int64_t first_prompt = 0);

  /// Extends each running hypothesis by one token. `next`: logits after the hypotheses [B n, 1], in
  /// the first call after the prompts [B, 1]. Throws `error` with exit code 79 if a row of logits
  /// is NaN, +inf or all -inf.
  void extend(logits const& next);

  /// Returns, for each running hypothesis [B n], the row that it extended in the last step.
  at::Tensor origins() const { return origins_; }
  /// Returns the last token of each running hypothesis, [B n, 1].
  at::Tensor last_tokens() const { return running_.select(2, length_ + generated_ - 1).flatten().unsqueeze(1); }

  bool unfinished() const { return unfinished_; }

  /// Returns the token ids of each prompt's best hypotheses, [B * results, T + longest
  /// continuation].
  at::Tensor ids() const;
  /// Returns the length-normalised scores of each prompt's best hypotheses, f64 [B * results].
  at::Tensor scores() const { return finished_scores_.narrow(1, 0, options_.results).flatten(); }

 private:
  /// The most likely next tokens of each row, [rows, candidates]: f64 log-probabilities in
  /// descending order, and int64 tokens.
  struct continuations {
    at::Tensor log_p, tokens;
  };

  continuations best_of(logits const& next, std::int64_t count) const;
  continuations ruled_best_of(logits const& next, std::int64_t count) const;
  /// Throws `error` with exit code 79 if the largest logit of row `row` (of `rows`) is NaN or
  /// infinite. The message has prompt and position.
  void check(double largest, std::int64_t row, std::int64_t rows) const;
  void run_on(at::Tensor const& scores, at::Tensor const& beam, at::Tensor const& candidates, at::Tensor const& ended);
  void finish(at::Tensor const& scores, at::Tensor const& candidates, at::Tensor const& ended);
  void close();

  beam_options options_;
  std::int64_t first_prompt_, prompts_, length_, generated_ = 0;
  // Running hypotheses, int64 [B, n, T + max_new_tokens], and their scores, f64 [B, n].
  at::Tensor running_, running_scores_;
  // Finished hypotheses and scores of the same shapes, and numbers of new tokens [B, n]; 0 for an
  // empty slot.
  at::Tensor finished_, finished_scores_, finished_size_;
  // Mask, bool [B]: true while a better hypothesis is possible.
  at::Tensor open_;
  at::Tensor origins_;
  bool unfinished_ = true;
};

}  // namespace redco::generation::detail

namespace redco::generation {

/// The result of beam search: the best hypotheses (token sequences) of each prompt. Rows of one
/// prompt are consecutive, the best first.
struct beam_result {
  /// Token ids, int64 [B * results, T + longest continuation]: prompt, continuation, padding.
  at::Tensor ids;
  at::Tensor scores;  ///< length-normalised scores of the rows, f64 [B * results]
};

}  // namespace redco::generation

namespace redco {

/// Continues prompts [B, T] by beam search, as Hugging Face does. A step considers max(2, 1 +
/// number of stop ids) candidates per beam; only its best `beams` candidates can finish. A prompt
/// is done when none of its running hypotheses can still beat its worst finished one; options.stop
/// selects the length for this comparison. Results are equal on every mesh. Throws `error` with
/// exit code 64 for invalid options or if prompt and continuation exceed the model's context.
/// Throws it with 79 if logits are NaN, +inf or all -inf.
template <model M, class... Items>
generation::beam_result beam_search(bound_network<M, Items...> const& net, at::Tensor const& prompts,
                                    beam_options const& options = {}) {
  at::NoGradGuard const no_grad;
  generation::detail::beams hypotheses(prompts, options, net.pass().first_row(prompts.size(0)));
  generation::decoding<M, Items...> decoder(net, prompts.size(1), options.max_new_tokens, options.beams);
  hypotheses.extend(decoder.next(prompts));
  decoder.select_rows(at::arange(prompts.size(0), at::kLong).repeat_interleave(options.beams));
  while (hypotheses.unfinished()) {
    decoder.select_rows(hypotheses.origins());
    hypotheses.extend(decoder.next(hypotheses.last_tokens()));
  }
  return {hypotheses.ids(), hypotheses.scores()};
}

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/generate/beam_search.inl.hpp>
#endif
