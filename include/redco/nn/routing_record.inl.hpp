#pragma once

#include <redco/nn/routing_record.hpp>

#include <redco/config.hpp>

#include <tuple>

namespace redco::nn {

REDCO_INLINE routing_record::routing_record(dtype compute)
    : tolerance_(compute == dtype::f64   ? 1e-9
                 : compute == dtype::f32 ? 1e-4
                                         : 0.03) {}

REDCO_INLINE at::Tensor routing_record::agreed(at::Tensor const& rated, at::Tensor const& chosen, place const& first,
                                               std::int64_t sequences) {
  at::NoGradGuard const no_grad;
  std::lock_guard const lock(mutex_);
  if (sequences == 0) return chosen;
  std::int64_t const tokens = chosen.size(0) / sequences;
  at::Tensor const result = chosen.cpu().clone();
  for (std::int64_t s = 0; s < sequences; ++s) {
    place at = first;
    at.sequence += s;
    at::Tensor const own = result.narrow(0, s * tokens, tokens);
    if (!replays_) {
      chosen_[at] = own.clone();
      continue;
    }
    auto const found = chosen_.find(at);
    if (found == chosen_.end() || !found->second.sizes().equals(own.sizes())) continue;
    at::Tensor const scores = rated.narrow(0, s * tokens, tokens).cpu();
    auto const sorted = [&](at::Tensor const& experts) { return std::get<0>(scores.gather(1, experts).sort(1)); };
    at::Tensor const a = sorted(own), b = sorted(found->second);
    at::Tensor const tied = (a - b).abs().le(tolerance_ * a.abs().clamp_min(1e-3)).all(1, true);
    at::Tensor const differs = own.ne(found->second).any(1, true).logical_and(tied);
    replaced_ += differs.sum().item<std::int64_t>();
    own.copy_(at::where(differs, found->second, own));
  }
  return result.to(chosen.device());
}

}  // namespace redco::nn
