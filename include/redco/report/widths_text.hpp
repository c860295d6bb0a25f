#pragma once

#include <redco/report/detail/numbers.hpp>

#include <redco/cost/cost_of.hpp>

#include <redco/shard/plan.hpp>

#include <cstdint>
#include <string>

namespace redco::report {

/// The peak of one rank for every legal number of model shards up to 64, and whether it fits `budget` bytes (0: not
/// asked); those that the run's hosts do not divide are left out.
template <model M, class Optimizer>
std::string widths_text(M const& m, Optimizer const& optimizer, setup run, std::int64_t budget) {
  std::string text = "model shards and what a rank holds at most\n";
  for (int const width : legal_widths(facts_of(m).parameters)) {
    run.mesh.tp = width;
    if (run.mesh.ranks() % run.hosts != 0) continue;
    std::int64_t const peak = cost_of(m, optimizer, run).memory.peak();
    text += detail::padded_left(std::to_string(width), 4) + detail::padded_left(detail::bytes_text(peak), 12) +
            (budget == 0      ? ""
             : peak <= budget ? "  fits"
                              : "  does not fit") +
            "\n";
  }
  return text;
}

}  // namespace redco::report
