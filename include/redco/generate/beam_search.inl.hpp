#pragma once

#include <redco/generate/beam_search.hpp>

#include <redco/generate/detail/check_options.hpp>
#include <redco/generate/detail/scores.hpp>
#include <redco/tensor/device.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

namespace redco::generation::detail {

// Penalty added to scores that may not be chosen, far below every score. A finite number, as in
// Hugging Face, keeps the order among penalised scores.
inline constexpr double out_of_question = -1e9;

/// Returns the rows [B, k, ...] of `all` [B, n, ...] that the indices `rows`, int64 [B, k], select.
inline at::Tensor rows_at(at::Tensor const& all, at::Tensor const& rows) {
  if (all.dim() == 2) return all.gather(1, rows);
  return all.gather(1, rows.unsqueeze(-1).expand({rows.size(0), rows.size(1), all.size(2)}));
}

REDCO_INLINE beams::beams(at::Tensor const& prompts, beam_options const& options, std::int64_t first_prompt)
    : options_(options), first_prompt_(first_prompt), prompts_(prompts.size(0)), length_(prompts.size(1)) {
  check_options(options);
  std::int64_t const n = options.beams;
  running_ = at::full({prompts_, n, length_ + options.max_new_tokens}, options.pad, at::kLong);
  running_.narrow(2, 0, length_).copy_(prompts.unsqueeze(1).expand({prompts_, n, length_}));
  running_scores_ = at::full({prompts_, n}, out_of_question, at::kDouble);
  // All beams begin alike, so only the first one counts.
  running_scores_.select(1, 0).zero_();
  finished_ = running_.clone();
  finished_scores_ = at::full({prompts_, n}, out_of_question, at::kDouble);
  finished_size_ = at::zeros({prompts_, n}, at::kLong);
  open_ = at::ones({prompts_}, at::kBool);
}

REDCO_INLINE void beams::check(double largest, std::int64_t row, std::int64_t rows) const {
  check_finite(largest, first_prompt_ + row * prompts_ / rows, generated_, length_ + generated_);
}

REDCO_INLINE beams::continuations beams::best_of(logits const& next, std::int64_t count) const {
  if (auto const forced = forced_id(options_, length_, generated_)) {
    // In the first step, a row serves all beams of its prompt.
    std::int64_t const rows = generated_ == 0 ? prompts_ : prompts_ * options_.beams;
    at::Tensor const log_p = at::full({rows, count}, -std::numeric_limits<double>::infinity(), at::kDouble);
    log_p.select(1, 0).zero_();
    return {log_p, at::full({rows, count}, *forced, at::kLong)};
  }
  if (has_rules(options_, generated_)) return ruled_best_of(next, count);
  kernel::largest_logits const best = next.top(count);
  at::Tensor const largest = tensors::to_cpu(best.logits.select(1, 0).contiguous());
  for (std::int64_t row = 0; row < largest.size(0); ++row)
    check(largest.const_data_ptr<double>()[row], row, largest.size(0));
  return {tensors::to_cpu(best.logits - best.log_sum.unsqueeze(1)), tensors::to_cpu(best.entries)};
}

/// Returns each row's `count` most likely next tokens after the options' rules, such as the
/// repetition penalty. Computes all log-probabilities, because rules change them.
REDCO_INLINE beams::continuations beams::ruled_best_of(logits const& next, std::int64_t count) const {
  at::Tensor const log_p = tensors::to_cpu(next.tensor().squeeze(1).to(at::kDouble).log_softmax(-1));
  std::int64_t const rows = log_p.size(0), vocabulary = log_p.size(1), total = running_.size(2);
  // In the first step, a row serves all beams of its prompt.
  std::int64_t const each = prompts_ * options_.beams / rows;
  auto const seen = static_cast<std::size_t>(length_ + generated_);
  continuations const best{at::empty({rows, count}, at::kDouble), at::empty({rows, count}, at::kLong)};
  std::vector<std::int64_t> order(static_cast<std::size_t>(vocabulary));
  for (std::int64_t row = 0; row < rows; ++row) {
    auto* const all = log_p.mutable_data_ptr<double>() + row * vocabulary;
    // log_softmax turns +inf and rows of -inf into NaN.
    check(largest_or_nan({all, order.size()}), row, rows);
    apply_rules({all, order.size()}, {running_.const_data_ptr<std::int64_t>() + row * each * total, seen}, options_,
                generated_);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::partial_sort(order.begin(), order.begin() + count, order.end(),
                      [all](std::int64_t a, std::int64_t b) { return all[a] > all[b] || (all[a] == all[b] && a < b); });
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t const token = order[static_cast<std::size_t>(i)];
      best.log_p.mutable_data_ptr<double>()[row * count + i] = all[token];
      best.tokens.mutable_data_ptr<std::int64_t>()[row * count + i] = token;
    }
  }
  return best;
}

REDCO_INLINE void beams::extend(logits const& next) {
  std::int64_t const n = options_.beams, vocabulary = next.vocabulary;
  auto const ends = static_cast<std::int64_t>(options_.stop_ids.size());
  std::int64_t const kept = std::min(std::max<std::int64_t>(2, 1 + ends) * n, n * vocabulary);
  // A beam cannot give more candidates than the vocabulary has tokens.
  std::int64_t const count = std::min(kept, vocabulary);
  continuations best = best_of(next, count);
  // All beams begin alike, so each repeats its prompt's candidates.
  if (generated_ == 0) best = {best.log_p.repeat_interleave(n, 0), best.tokens.repeat_interleave(n, 0)};
  at::Tensor const sums = (best.log_p.view({prompts_, n, count}) + running_scores_.unsqueeze(-1)).flatten(1);
  at::Tensor const best_indices = std::get<1>(sums.sort(true, -1, true)).narrow(1, 0, kept);
  at::Tensor const scores = sums.gather(1, best_indices),
                   token = best.tokens.view({prompts_, n * count}).gather(1, best_indices);
  at::Tensor const beam = best_indices.div(count, "floor");
  at::Tensor const candidates = rows_at(running_, beam);
  candidates.select(2, length_ + generated_).copy_(token);
  at::Tensor ended = at::full(token.sizes(), generated_ + 1 == options_.max_new_tokens, at::kBool);
  for (std::int64_t const stop : options_.stop_ids) ended = ended.logical_or(token == stop);
  run_on(scores, beam, candidates, ended);
  finish(scores, candidates, ended);
  ++generated_;
  close();
  bool const full = options_.stop == pretrained::beam_stop::when_full && finished_size_.gt(0).all().item<bool>();
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
  if (options_.stop == pretrained::beam_stop::when_full)
    barred = barred + finished_size_.gt(0).all(1, true).to(at::kDouble);
  at::Tensor const normed = scores / std::pow(static_cast<double>(generated_ + 1), options_.length_penalty);
  at::Tensor const all = at::cat({finished_scores_, normed + barred * out_of_question}, 1);
  auto const [best, chosen] = all.topk(options_.beams, 1);
  finished_ = rows_at(at::cat({finished_, candidates}, 1), chosen);
  finished_size_ = rows_at(at::cat({finished_size_, counts.to(at::kLong) * (generated_ + 1)}, 1), chosen);
  finished_scores_ = best;
}

/// Marks prompts as done whose best running hypothesis scores no better than their worst finished
/// one. A running score is normalised by the current length. With beam_stop::when_impossible and a
/// positive length penalty, it is normalised by the largest possible length.
REDCO_INLINE void beams::close() {
  bool const longest = options_.stop == pretrained::beam_stop::when_impossible && options_.length_penalty > 0;
  auto const length = static_cast<double>(longest ? options_.max_new_tokens : generated_);
  at::Tensor const best = running_scores_.narrow(1, 0, 1) / std::pow(length, options_.length_penalty);
  at::Tensor const worst = at::where(finished_size_.gt(0), std::get<0>(finished_scores_.min(1, true)), out_of_question);
  open_ = open_.logical_and(best.gt(worst).any(1));
}

REDCO_INLINE at::Tensor beams::ids() const {
  std::int64_t const longest = finished_size_.narrow(1, 0, options_.results).max().item<std::int64_t>();
  return finished_.narrow(1, 0, options_.results).flatten(0, 1).narrow(1, 0, length_ + longest).contiguous();
}

}  // namespace redco::generation::detail
