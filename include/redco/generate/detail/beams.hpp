#pragma once

#include <redco/generate/beam_options.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::detail {

/// The hypotheses of B prompts with n beams each: those that run, and the best that are finished.
class beams {
 public:
  /// Errors: exit code 64 for options without sense.
  beams(at::Tensor const& prompts, beam_options const& options);

  /// A row for each beam, from one for each prompt.
  at::Tensor for_each_beam(at::Tensor const& by_prompt) const;
  at::Tensor first_rows() const { return for_each_beam(at::arange(prompts_)); }

  /// Takes the logits [B n, vocabulary] of the running hypotheses in.
  void extend(at::Tensor const& logits);

  /// The rows that the running hypotheses were before they were extended, and their last tokens [B n, 1].
  at::Tensor origins() const { return origins_; }
  at::Tensor last_tokens() const;

  bool unfinished() const { return unfinished_; }

  /// The best hypotheses of each prompt, as long as the longest, and their scores.
  at::Tensor ids() const;
  at::Tensor scores() const;

 private:
  at::Tensor log_probabilities(at::Tensor const& logits) const;
  void run_on(at::Tensor const& scores, at::Tensor const& beam, at::Tensor const& candidates, at::Tensor const& ended);
  void finish(at::Tensor const& scores, at::Tensor const& candidates, at::Tensor const& ended);
  void close();

  beam_options options_;
  std::int64_t prompts_, length_, generated_ = 0;
  at::Tensor running_, running_scores_;                    // [B, n, total], f64 [B, n]
  at::Tensor finished_, finished_scores_, finished_size_;  // the same; new tokens [B, n], 0 where there is none
  at::Tensor open_;                                        // bool [B]: a better hypothesis may come
  at::Tensor origins_;
  bool unfinished_ = true;
};

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/generate/impl/beams.hpp>
#endif
