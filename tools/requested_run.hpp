#pragma once

#include "plan_options.hpp"

#include <redco/report/run_request.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/options/deployer_options.hpp>
#include <redco/options/value_text.hpp>
#include <redco/diag/error.hpp>
#include <redco/schedule/pipeline_table.hpp>
#include <redco/schedule/pipeline_text.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

// Run that the options of redco-plan request.

namespace planning {

using redco::error;
using redco::exit_code;

[[noreturn]] inline void refuse(std::string const& why) { throw error(exit_code::usage, why); }

inline constexpr std::int64_t most_ranks = 1'000'000;

/// Throws `error` with exit code 64 unless the value is from 1 to 2^28.
inline void check_count(std::string const& flag, std::int64_t value) {
  if (value < 1 || value > redco::pretrained::config_reader::most)
    refuse(flag + " is " + std::to_string(value) + ": give a number from 1 to " +
           std::to_string(redco::pretrained::config_reader::most));
}

inline void check_length(std::string const& flag, std::int64_t value, std::int64_t context) {
  check_count(flag, value);
  if (value > context)
    refuse(flag + " " + std::to_string(value) + " is longer than the model's context of " + std::to_string(context) +
           "; give at most that");
}

inline redco::mesh mesh_of(plan_options const& o) {
  check_count("--n-model-shards", o.n_model_shards);
  check_count("--n-pipeline-stages", o.n_pipeline_stages);
  std::int64_t const asked = o.ranks ? std::int64_t{*o.ranks} : std::int64_t{o.n_model_shards} * o.n_pipeline_stages;
  check_count("--ranks", asked);
  int const ranks = static_cast<int>(asked);
  if (o.mesh && o.n_pipeline_stages > 1 && o.mesh->pp != o.n_pipeline_stages)
    refuse("--mesh " + redco::options::to_text(*o.mesh) + " has " + std::to_string(o.mesh->pp) +
           " pipeline stages and --n-pipeline-stages " + std::to_string(o.n_pipeline_stages) + "; give one of the two");
  if (ranks % o.n_pipeline_stages != 0)
    refuse(std::to_string(ranks) + " ranks cannot form " + std::to_string(o.n_pipeline_stages) +
           " equal pipeline stages; give --ranks a multiple of --n-pipeline-stages");
  redco::mesh const m = o.mesh ? *o.mesh : redco::options::mesh_of(ranks, o.n_model_shards, o.n_pipeline_stages);
  if (m.ranks() > most_ranks)
    refuse("mesh " + redco::options::to_text(m) + " has more than a million ranks; choose a smaller one");
  return m;
}

/// Returns the number of chunks of each stage, by default 2 for schedules that need several.
inline int chunks_of(plan_options const& o, redco::schedule::pipeline_kind kind) {
  using redco::schedule::pipeline_kind;
  return o.chunks_per_stage.value_or(kind == pipeline_kind::interleaved || kind == pipeline_kind::v_half ? 2 : 1);
}

/// Returns the table of --schedule, from a kind of pipeline or from a file.
inline redco::schedule::pipeline_table table_of(plan_options const& o) {
  auto const kind = redco::schedule::pipeline_kind_texts.value_of(*o.schedule);
  if (!kind) {
    std::string kinds;
    for (auto const& row : redco::schedule::pipeline_kind_texts.rows) kinds += std::string(row.text) + ", ";
    if (!std::filesystem::exists(*o.schedule))
      refuse("--schedule " + *o.schedule + " is no file; give one of " + kinds + "or the path of a file");
    return redco::schedule::read_pipeline_file(*o.schedule);
  }
  std::int64_t const at_once = o.micro_batch.value_or(o.batch);
  check_count("--batch", o.batch);
  check_count("--micro-batch", at_once);
  redco::schedule::pipeline_shape const shape{*kind, o.n_pipeline_stages, static_cast<int>((o.batch - 1) / at_once + 1),
                                              chunks_of(o, *kind)};
  if (auto const why = redco::schedule::refusal_of(shape); !why.empty())
    refuse("--schedule " + *o.schedule + " " + std::string(why) + ", but there are " + std::to_string(shape.stages) +
           " stages, " + std::to_string(shape.micro_batches) + " micro-batches and " +
           std::to_string(shape.chunks_per_stage) + " chunks per stage");
  return redco::schedule::table_of(shape);
}

/// Sets the schedule of a run's pipeline stages: a kind, or the table of a file.
inline void set_schedule(redco::report::run_request& run, plan_options const& o) {
  if (run.mesh.pp == 1 && o.schedule)
    refuse("--schedule " + *o.schedule +
           " has no meaning for a run with one pipeline stage; give --n-pipeline-stages, or "
           "leave the model out to draw a schedule");
  if (run.mesh.pp == 1 && o.chunks_per_stage)
    refuse("--chunks-per-stage has no meaning for a run with one pipeline stage; give --n-pipeline-stages");
  auto const kind = redco::schedule::pipeline_kind_texts.value_of(o.schedule.value_or("1f1b"));
  if (kind) {
    run.stages.schedule = *kind;
    run.stages.chunks_per_stage = chunks_of(o, *kind);
    return;
  }
  auto table = std::make_shared<redco::schedule::pipeline_table>(table_of(o));
  int const chunks = static_cast<int>(table->chunks() / table->stages());
  run.stages.chunks_per_stage = o.chunks_per_stage.value_or(std::max(chunks, 1));
  run.table = std::move(table);
}

inline redco::report::run_request request_of(plan_options const& o, redco::workload const& load) {
  redco::report::run_request run{.mesh = mesh_of(o),
                                 .load = load,
                                 .micro_batch = o.micro_batch.value_or(0),
                                 .compute = o.dtype,
                                 .recompute = o.recompute,
                                 .hosts = o.hosts,
                                 .overlap = o.overlap,
                                 .gradient_bucket = o.gradient_bucket,
                                 .zero = {.level = o.zero.value_or(0), .keep = o.zero_keep, .owner = o.zero_owner},
                                 .zero_within = o.zero_within,
                                 .form = o.mesh    ? redco::report::request_form::mesh
                                         : o.ranks ? redco::report::request_form::ranks
                                                   : redco::report::request_form::model_shards};
  if (o.stages) run.stages.cuts = redco::shape::stage_cuts::of(redco::options::parse_stages(*o.stages));
  set_schedule(run, o);
  return run;
}

}  // namespace planning
