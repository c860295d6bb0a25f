#pragma once

#include <redco/nn/routing_record.hpp>

#include <redco/config.hpp>

#include <array>
#include <tuple>

namespace redco::nn {

REDCO_INLINE routing_record::routing_record(dtype compute)
    : tolerance_(compute == dtype::f64   ? 1e-9
                 : compute == dtype::f32 ? 1e-4
                                         : 0.03) {}

REDCO_INLINE at::Tensor routing_record::agreed(at::Tensor const& rated, at::Tensor const& chosen, place const& first,
                                               std::int64_t sequences, shape::sequence_part const* part) {
  at::NoGradGuard const no_grad;
  std::lock_guard const lock(mutex_);
  if (sequences == 0) return chosen;
  std::int64_t const tokens = chosen.size(0) / sequences, all = part == nullptr ? tokens : part->all;
  using runs = std::array<shape::sequence_part::run, 2>;
  runs const own_runs = part == nullptr ? runs{{{0, tokens}, {0, 0}}} : part->runs();
  std::int64_t const second = part == nullptr ? tokens : part->of_run();  // begin of the second run
  at::Tensor const result = chosen.cpu().clone();
  for (std::int64_t s = 0; s < sequences; ++s) {
    place at = first;
    at.sequence += s;
    std::array<std::int64_t, 2> const shape{all, chosen.size(1)};
    auto found = chosen_.find(at);
    if (found == chosen_.end() || !found->second.sizes().equals(shape)) {
      if (replays_) continue;
      found = chosen_.insert_or_assign(at, at::full(shape, -1, at::kLong)).first;
    }
    at::Tensor const recorded = found->second;
    for (std::size_t i = 0; i < own_runs.size(); ++i) {
      std::int64_t const begin = s * tokens + (i == 0 ? 0 : second), count = own_runs[i].real;
      if (count == 0) continue;
      at::Tensor const own = result.narrow(0, begin, count), known = recorded.narrow(0, own_runs[i].first, count);
      if (replays_) take_tied(own, known, rated.narrow(0, begin, count).cpu());
      else known.copy_(own);
    }
  }
  return result.to(chosen.device());
}

/// Replaces the experts `own` [tokens, k] by `recorded` for tokens whose `scores` [tokens, experts]
/// of both are equal up to rounding.
REDCO_INLINE void routing_record::take_tied(at::Tensor const& own, at::Tensor const& recorded,
                                            at::Tensor const& scores) {
  auto const sorted = [&](at::Tensor const& experts) { return std::get<0>(scores.gather(1, experts).sort(1)); };
  at::Tensor const a = sorted(own), b = sorted(recorded.clamp_min(0));
  at::Tensor const tied =
      (a - b).abs().le(tolerance_ * a.abs().clamp_min(1e-3)).logical_and(recorded.ge(0)).all(1, true);
  at::Tensor const differs = own.ne(recorded).any(1, true).logical_and(tied);
  replaced_ += differs.sum().item<std::int64_t>();
  own.copy_(at::where(differs, recorded, own));
}

}  // namespace redco::nn
