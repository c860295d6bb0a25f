#pragma once

#include <redco/report/budget_text.hpp>

#include <redco/report/detail/numbers.hpp>
#include <redco/report/step_moments.hpp>
#include <redco/options/mesh_text.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace redco::report {

namespace detail {

/// "activations 373 MiB, optimizer state 41.8 MiB and gradients 20.9 MiB": what the peak is mostly made of.
inline std::string largest_parts(cost::memory const& m) {
  step_moment const peak = peak_moment(m);
  auto const lines = memory_lines(m);
  std::vector<std::size_t> order(lines.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return peak.bytes[a] > peak.bytes[b]; });
  std::string text;
  for (std::size_t i = 0; i < 3 && peak.bytes[order[i]] > 0; ++i)
    text += (i > 0 ? ", " : "") + std::string(lines[order[i]].kind) + " " + bytes_text(peak.bytes[order[i]]);
  return text;
}

}  // namespace detail

REDCO_INLINE std::string budget_text(shard_report const& r, std::optional<fitting_change> const& change) {
  std::int64_t const peak = r.cost.memory.peak();
  std::string const mesh = "mesh " + options::to_text(r.run.mesh);
  if (r.fits())
    return mesh + ": fits, " + detail::bytes_text(peak) + " of " + detail::bytes_text(r.budget) + " on every rank";
  std::string text = mesh + ": does not fit, a rank holds " + detail::bytes_text(peak) + " in " +
                     std::string(peak_moment(r.cost.memory).phase) + ", " + detail::bytes_text(peak - r.budget) +
                     " more than the budget of " + detail::bytes_text(r.budget) +
                     "\n  largest: " + detail::largest_parts(r.cost.memory) + "\n  smallest change that fits: ";
  if (change) return text + change->what + ", " + detail::bytes_text(change->peak) + " on every rank";
  return text +
         "none; up to 64 model shards with bf16, micro-batches of one example and recomputation are too large: take a "
         "smaller model, a shorter sequence or more memory";
}

}  // namespace redco::report
