#pragma once

#include <redco/generate/detail/beams.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace redco::detail {

// Far below every score, and added to what may not be chosen; a finite number, as in the original, so that among such the
// order stays.
inline constexpr double out_of_question = -1e9;

/// Rows [B, k, ...] of `all` [B, n, ...] by int64 [B, k].
inline at::Tensor rows_at(at::Tensor const& all, at::Tensor const& rows) {
  if (all.dim() == 2) return all.gather(1, rows);
  return all.gather(1, rows.unsqueeze(-1).expand({rows.size(0), rows.size(1), all.size(2)}));
}

REDCO_INLINE beams::beams(at::Tensor const& prompts, beam_options const& options)
    : options_(options), prompts_(prompts.size(0)), length_(prompts.size(1)) {
  if (options.beams < 1 || options.results < 1 || options.results > options.beams || options.max_new_tokens < 1)
    throw error(exit_code::usage, "beam search of " + std::to_string(options.max_new_tokens) + " tokens with " +
                                      std::to_string(options.beams) + " beams gives back 1 to " +
                                      std::to_string(options.beams) + " results, not " +
                                      std::to_string(options.results) + "; ask for that many");
  std::int64_t const n = options.beams;
  running_ = at::full({prompts_, n, length_ + options.max_new_tokens}, options.pad, at::kLong);
  running_.narrow(2, 0, length_).copy_(prompts.unsqueeze(1).expand({prompts_, n, length_}));
  running_scores_ = at::full({prompts_, n}, out_of_question, at::kDouble);
  running_scores_.select(1, 0).zero_();  // all beams begin alike: one of them counts
  finished_ = running_.clone();
  finished_scores_ = at::full({prompts_, n}, out_of_question, at::kDouble);
  finished_size_ = at::zeros({prompts_, n}, at::kLong);
  open_ = at::ones({prompts_}, at::kBool);
}

REDCO_INLINE at::Tensor beams::for_each_beam(at::Tensor const& by_prompt) const {
  return by_prompt.repeat_interleave(options_.beams, 0);
}

REDCO_INLINE at::Tensor beams::log_probabilities(at::Tensor const& logits) const {
  at::Tensor result = logits.to(at::kDouble).log_softmax(-1);
  if (options_.forced_end >= 0 && generated_ + 1 == options_.max_new_tokens) {
    result.fill_(-std::numeric_limits<double>::infinity());
    result.select(1, options_.forced_end).zero_();
  }
  return result;
}

REDCO_INLINE void beams::extend(at::Tensor const& logits) {
  std::int64_t const n = options_.beams, vocabulary = logits.size(1);
  auto const ends = static_cast<std::int64_t>(options_.stop_ids.size());
  std::int64_t const kept = std::min(std::max<std::int64_t>(2, 1 + ends) * n, n * vocabulary);
  at::Tensor const sums = log_probabilities(logits).view({prompts_, n, vocabulary}) + running_scores_.unsqueeze(-1);
  auto const [scores, place] = sums.flatten(1).topk(kept, 1);
  at::Tensor const beam = place.div(vocabulary, "floor"), token = place.remainder(vocabulary);
  at::Tensor const candidates = rows_at(running_, beam);
  candidates.select(2, length_ + generated_).copy_(token);
  at::Tensor ended = at::full(token.sizes(), generated_ + 1 == options_.max_new_tokens, at::kBool);
  for (std::int64_t const stop : options_.stop_ids) ended = ended.logical_or(token == stop);
  run_on(scores, beam, candidates, ended);
  finish(scores, candidates, ended);
  ++generated_;
  close();
  bool const full = options_.stop_early && finished_size_.gt(0).all().item<bool>();
  unfinished_ = open_.any().item<bool>() && !full && !ended.all().item<bool>();
}

REDCO_INLINE void beams::run_on(at::Tensor const& scores, at::Tensor const& beam, at::Tensor const& candidates,
                                at::Tensor const& ended) {
  auto const [best, chosen] = (scores + ended.to(at::kDouble) * out_of_question).topk(options_.beams, 1);
  running_ = rows_at(candidates, chosen);
  running_scores_ = best;
  origins_ = (beam.gather(1, chosen) + (at::arange(prompts_) * options_.beams).unsqueeze(1)).flatten();
}

REDCO_INLINE void beams::finish(at::Tensor const& scores, at::Tensor const& candidates, at::Tensor const& ended) {
  std::int64_t const kept = scores.size(1);
  at::Tensor const counts = ended.logical_and(at::arange(kept).lt(options_.beams));
  at::Tensor barred = counts.logical_not().to(at::kDouble) + open_.logical_not().unsqueeze(1).to(at::kDouble);
  if (options_.stop_early) barred = barred + finished_size_.gt(0).all(1, true).to(at::kDouble);
  at::Tensor const normed = scores / std::pow(static_cast<double>(generated_ + 1), options_.length_penalty);
  at::Tensor const all = at::cat({finished_scores_, normed + barred * out_of_question}, 1);
  auto const [best, chosen] = all.topk(options_.beams, 1);
  finished_ = rows_at(at::cat({finished_, candidates}, 1), chosen);
  finished_size_ = rows_at(at::cat({finished_size_, counts.to(at::kLong) * (generated_ + 1)}, 1), chosen);
  finished_scores_ = best;
}

/// A prompt is done when its best running hypothesis, at its present length, is no better than its worst finished one.
REDCO_INLINE void beams::close() {
  at::Tensor const best =
      running_scores_.narrow(1, 0, 1) / std::pow(static_cast<double>(generated_), options_.length_penalty);
  at::Tensor const worst = at::where(finished_size_.gt(0), std::get<0>(finished_scores_.min(1, true)), out_of_question);
  open_ = open_.logical_and(best.gt(worst).any(1));
}

REDCO_INLINE at::Tensor beams::last_tokens() const {
  return running_.select(2, length_ + generated_ - 1).flatten().unsqueeze(1);
}

REDCO_INLINE at::Tensor beams::ids() const {
  std::int64_t const longest = finished_size_.narrow(1, 0, options_.results).max().item<std::int64_t>();
  return finished_.narrow(1, 0, options_.results).flatten(0, 1).narrow(1, 0, length_ + longest).contiguous();
}

REDCO_INLINE at::Tensor beams::scores() const { return finished_scores_.narrow(1, 0, options_.results).flatten(); }

}  // namespace redco::detail
