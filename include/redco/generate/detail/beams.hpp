#pragma once

#include <redco/nn/logits.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/pretrained/beam_options.hpp>

#include <cstdint>

namespace redco::detail {

/// The hypotheses of B prompts with n beams each: those that run, and the best that are finished.
class beams {
 public:
  /// `first_prompt` is the global number of the first prompt, for errors. Errors: exit code 64 for
  /// options without sense.
  beams(at::Tensor const& prompts, beam_options const& options, std::int64_t first_prompt = 0);

  /// Takes the logits [B n, 1] of the running hypotheses in; at first [B, 1] of the prompts.
  /// Errors: exit code 79 if a row of logits is NaN, +inf or all -inf.
  void extend(logits const& next);

  /// The rows that the running hypotheses were before they were extended, and their last tokens [B n, 1].
  at::Tensor origins() const { return origins_; }
  at::Tensor last_tokens() const;

  bool unfinished() const { return unfinished_; }

  /// The best hypotheses of each prompt, as long as the longest, and their scores.
  at::Tensor ids() const;
  at::Tensor scores() const;

 private:
  /// The best continuations of each row, [rows, candidates]: f64 log-probabilities, the largest first, and int64 tokens.
  struct continuations {
    at::Tensor log_p, tokens;
  };

  continuations best_of(logits const& next, std::int64_t count) const;
  continuations ruled_best_of(logits const& next, std::int64_t count) const;
  /// Refuses row `row` of `rows` by its largest logit; see check_finite.
  void check(double largest, std::int64_t row, std::int64_t rows) const;
  void run_on(at::Tensor const& scores, at::Tensor const& beam, at::Tensor const& candidates, at::Tensor const& ended);
  void finish(at::Tensor const& scores, at::Tensor const& candidates, at::Tensor const& ended);
  void close();

  beam_options options_;
  std::int64_t first_prompt_, prompts_, length_, generated_ = 0;
  at::Tensor running_, running_scores_;                    // [B, n, total], f64 [B, n]
  at::Tensor finished_, finished_scores_, finished_size_;  // the same; new tokens [B, n], 0 where there is none
  at::Tensor open_;                                        // bool [B]: a better hypothesis may come
  at::Tensor origins_;
  bool unfinished_ = true;
};

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/generate/detail/beams.inl.hpp>
#endif
