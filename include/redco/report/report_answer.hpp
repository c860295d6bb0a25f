#pragma once

#include <redco/report/run_request.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/shard/plan.hpp>
#include <redco/shape/mesh.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redco::report::detail {

/// Returns the runs that differ from `asked` in all kinds of `changes`, the smallest difference
/// first. `changes` is a sum of 1 (more model shards), 2 (bf16), 4 (more micro-batches) and 8
/// (recomputation). `widths` are the possible numbers of model shards.
std::vector<run_request> changed_requests(run_request const& asked, unsigned changes, std::vector<int> const& widths);

std::string difference_text(run_request const& from, run_request const& to);

}  // namespace redco::report::detail

namespace redco::report {

/// A run that fits the memory budget, and its difference from the run that the user requested.
struct fitting_change {
  run_request asked;
  /// Description of the difference: "4 model shards", or "bf16 and 2 micro-batches of 4".
  std::string description;
  /// Options to make this change: "--n-model-shards 4", or "--dtype bf16 --micro-batch 4".
  std::string options;
  std::int64_t peak = 0;
};

/// Returns the smallest change of a requested run with which a rank needs at most `budget` bytes,
/// or nullopt if there is none. Tries more model shards, bf16, more micro-batches and recomputation
/// one at a time, then in pairs, and so on. A run with `fitting_change::options` needs exactly
/// `fitting_change::peak` bytes.
template <model M, class Optimizer>
std::optional<fitting_change> smallest_change(M const& m, Optimizer const& optimizer, run_request const& asked,
                                              std::int64_t budget) {
  std::vector<int> const widths = shard::legal_widths(shard::facts_of(m).parameters);
  for (unsigned const changes : {1U, 2U, 4U, 8U, 3U, 5U, 9U, 6U, 10U, 12U, 7U, 11U, 13U, 14U, 15U})
    for (run_request const& one : detail::changed_requests(asked, changes, widths)) {
      cost::setup const run = setup_of(one);
      if (!cost::has_schedule(run, run.micro_batches)) continue;
      if (std::int64_t const peak = cost::cost_of(m, optimizer, run).memory.peak(); peak <= budget)
        return fitting_change{one, detail::difference_text(asked, one), changed_options(asked, one), peak};
    }
  return {};
}

/// A possible number of model shards for a requested run: the resulting mesh and the peak bytes of
/// a rank.
struct legal_width {
  redco::mesh mesh;
  std::int64_t peak = 0;  ///< Peak bytes of one rank on this mesh
};

/// A set of answers for the beginning of a report: the possible numbers of model shards, the
/// smallest change that fits the memory budget, and the step time.
struct report_answer {
  run_request asked;
  std::vector<legal_width> widths;
  /// Smallest change with which the run fits the budget. Empty if the run already fits, or if no
  /// change makes it fit.
  std::optional<fitting_change> change = {};
  /// Predicted time of a step in seconds on the measured machine; empty: no prediction.
  std::optional<double> step_seconds = {};
  /// Share of the pipeline's time in which stages wait; empty for one stage, or without prediction
  std::optional<double> idle_share = {};
  std::string untimed = {};  ///< Reason why the member `step_seconds` is empty
};

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/report_answer.inl.hpp>
#endif
