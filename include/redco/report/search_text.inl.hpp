#pragma once

#include <redco/report/search_text.hpp>

#include <redco/report/detail/numbers.hpp>
#include <redco/report/detail/run_text.hpp>
#include <redco/options/value_text.hpp>
#include <redco/config.hpp>
#include <redco/schedule/pipeline_table.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::report::detail {

/// Returns the command-line options to run the plan `best`. Appends a note if the plan needs the
/// model wrapped as redco::models::sequence_parallel.
inline std::string flags_text(cost::found_plan const& best, cost::search_space const& space) {
  cost::setup const& run = best.run;
  std::string const order =
      run.stages.schedule == schedule::pipeline_kind::one_f_one_b
          ? ""
          : " --schedule " + std::string(schedule::pipeline_kind_texts.text_of(run.stages.schedule));
  std::string const chunks =
      run.stages.chunks_per_stage > 1 ? " --chunks-per-stage " + std::to_string(run.stages.chunks_per_stage) : "";
  return "--mesh " + options::to_text(run.mesh) + order + chunks +
         (run.zero.level > 0 ? " --zero " + std::to_string(run.zero.level) : "") +
         (run.zero.owner == shape::zero_owner::whole ? " --zero-owner whole" : "") +
         (run.zero.keep > 0 ? " --zero-keep " + std::to_string(run.zero.keep) : "") + " --dtype " +
         std::string(name_of(run.compute)) +
         (run.recompute.any() ? " --recompute " + options::to_text(run.recompute) : "") + " --global-batch " +
         std::to_string(space.load.batch) + " --micro-batch " + std::to_string(run.load.batch) +
         (best.sequence_parallel ? ", of the model as redco::models::sequence_parallel" : "");
}

/// Returns the line about the meshes that a search does not try. They include numbers of replicas
/// that a run accepts although they do not divide the batch.
inline std::string untried_text(cost::search_space const& space) {
  std::string uneven;
  for (int dp = 2; dp <= space.ranks && dp <= space.load.batch; ++dp)
    if (space.ranks % dp == 0 && space.load.batch % dp != 0)
      uneven += (uneven.empty() ? "" : ", ") + std::to_string(dp);
  return "not tried: meshes with cp, which divides the tokens of each example, or ep, which divides experts" +
         (uneven.empty() ? "" : "; dp " + uneven + ", which does not divide the batch") + "\n";
}

/// Returns the order of a plan's pipeline stages with their chunks per stage, such as "interleaved
/// 2", or "-" for one stage.
inline std::string order_text(cost::setup const& run) {
  if (run.mesh.pp == 1) return "-";
  std::string const kind{schedule::pipeline_kind_texts.text_of(run.stages.schedule)};
  return run.stages.chunks_per_stage > 1 ? kind + " " + std::to_string(run.stages.chunks_per_stage) : kind;
}

/// A table of plans, one per row. It has a column for the schedule if a plan has pipeline stages,
/// and one for the level of ZeRO if a plan's replicas keep shares.
class plan_table {
 public:
  explicit plan_table(std::vector<cost::found_plan> plans) : plans_(std::move(plans)) {
    for (cost::found_plan const& p : plans_) {
      mesh_ = std::max(mesh_, options::to_text(p.run.mesh).size() + 2);
      has_stages_ = has_stages_ || p.run.mesh.pp > 1;
      has_zero_ = has_zero_ || p.run.zero.level > 0;
    }
  }

  std::string text() const {
    std::string all =
        row("mesh", "schedule", "zero", "micro-batch", "dtype", "recompute", "tokens", "peak", "step time");
    for (cost::found_plan const& p : plans_)
      all +=
          row(options::to_text(p.run.mesh), order_text(p.run), std::to_string(p.run.zero.level),
              std::to_string(p.run.load.batch), std::string(name_of(p.run.compute)), options::to_text(p.run.recompute),
              p.sequence_parallel ? "split" : "all", bytes_text(p.peak), seconds_text(p.time.total()));
    return all;
  }

 private:
  std::string row(std::string const& mesh, std::string const& order, std::string const& zero,
                  std::string const& micro_batch, std::string const& compute, std::string const& recompute,
                  std::string const& tokens, std::string const& peak, std::string const& time) const {
    return padded(mesh, mesh_) + (has_stages_ ? padded(order, 15) : "") +
           (has_zero_ ? padded_left(zero, 4) + "  " : "") + padded_left(micro_batch, 11) + "  " + padded(compute, 6) +
           padded(recompute, 11) + padded(tokens, 6) + padded_left(peak, 11) + padded_left(time, 11) + "\n";
  }

  std::vector<cost::found_plan> plans_;
  std::size_t mesh_ = 10;  ///< Width of the column of meshes
  bool has_stages_ = false, has_zero_ = false;
};

}  // namespace redco::report::detail

namespace redco::report {

REDCO_INLINE std::string search_text(cost::search_result const& found, cost::search_space const& space,
                                     std::size_t most) {
  std::string const run = std::to_string(space.ranks) + (space.ranks == 1 ? " rank" : " ranks") +
                          detail::hosts_text(space.hosts) + ", " + detail::examples_text(space.load) + " a step";
  if (found.plans.empty())
    return "no plan fits " + detail::bytes_text(space.budget) + " on every rank (" + run + "); the smallest peak is\n" +
           detail::plan_table({found.smallest}).text() + detail::untried_text(space) +
           "take more ranks, a shorter sequence or more memory, or plan such a mesh with --mesh\n";
  auto const end = found.plans.begin() + static_cast<std::ptrdiff_t>(std::min(most, found.plans.size()));
  return run + ": " + std::to_string(found.plans.size()) + " plans" +
         (space.budget > 0 ? " fit " + detail::bytes_text(space.budget) + " on every rank" : "") +
         "; step times are predicted\n" + detail::plan_table({found.plans.begin(), end}).text() +
         detail::untried_text(space) + "run: " + detail::flags_text(found.plans.front(), space) + "\n";
}

}  // namespace redco::report
