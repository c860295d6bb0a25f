#pragma once

#include <redco/run/stage_choices.hpp>

#include <redco/report/pictures/pipeline_picture.hpp>
#include <redco/cost/checks.hpp>
#include <redco/options/value_text.hpp>
#include <redco/shape/axis.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>
#include <redco/schedule/pipeline_text.hpp>
#include <redco/schedule/pipeline_time.hpp>
#include <redco/schedule/step_of.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace redco::run::detail {

/// Returns the table of a schedule file for `stages` pipeline stages of `chunks` chunks each.
/// Throws `error` with exit code 65 if the file has another form or a computation that stages do
/// not run.
inline std::shared_ptr<schedule::pipeline_table const> table_of_file(std::string const& file, int stages, int chunks) {
  auto table = std::make_shared<schedule::pipeline_table>(schedule::read_pipeline_file(file));
  auto const refuse = [&](std::string const& what) { throw error(exit_code::data, file + ": " + what); };
  std::size_t const wanted = static_cast<std::size_t>(stages) * static_cast<std::size_t>(chunks);
  if (table->stages() != static_cast<std::size_t>(stages) || table->chunks() != wanted)
    refuse("the schedule has " + std::to_string(table->stages()) + " stages and " + std::to_string(table->chunks()) +
           " chunks of blocks, the run " + std::to_string(stages) + " and " + std::to_string(wanted) +
           ": give --n-pipeline-stages and --chunks-per-stage for the file");
  for (std::size_t chunk = 0; chunk < table->chunks(); ++chunk)
    if (table->stage_of[chunk] != static_cast<int>(chunk) % stages)
      refuse("chunk " + std::to_string(chunk) + " is on stage " + std::to_string(table->stage_of[chunk]) +
             ", and a run deals chunks to stages in turn: put it on stage " +
             std::to_string(chunk % wanted % static_cast<std::size_t>(stages)));
  for (std::vector<schedule::stage_op> const& list : table->of_stage)
    for (schedule::stage_op const& one : list)
      if (one.work != schedule::stage_work::forward && one.work != schedule::stage_work::backward)
        refuse("a run computes the gradients of inputs and weights together: replace I and W by B");
  return table;
}

}  // namespace redco::run::detail

namespace redco::run {

REDCO_INLINE stage_schedule schedule_of(deployer_options const& o, mesh const& on) {
  using schedule::pipeline_kind;
  auto const refuse = [](std::string const& message) { throw error(exit_code::usage, message); };
  auto const kind = schedule::pipeline_kind_texts.value_of(o.schedule);
  bool const is_file = !kind && std::filesystem::exists(o.schedule);
  if (!kind && !is_file)
    refuse("--schedule " + o.schedule +
           " is neither known nor a file: give 1f1b, gpipe, interleaved, or a schedule file");
  if (kind == pipeline_kind::zb_h1 || kind == pipeline_kind::v_half)
    refuse("--schedule " + o.schedule +
           " can be planned and drawn by redco-plan, but not run, because layers compute the gradients of inputs and "
           "weights together: give 1f1b, gpipe or interleaved");
  if (on.pp == 1) {
    if (!o.stages.empty())
      refuse("--stages " + o.stages + " without pipeline stages: give --n-pipeline-stages, or leave it out");
    if (o.chunks_per_stage > 1)
      refuse("--chunks-per-stage " + std::to_string(o.chunks_per_stage) +
             " without pipeline stages: give --n-pipeline-stages, or leave it out");
    if (o.schedule != "1f1b")
      refuse("--schedule " + o.schedule + " without pipeline stages: give --n-pipeline-stages, or leave it out");
    return {};
  }
  if (o.cuda_graph)
    refuse(
        "--cuda-graph and pipeline stages exclude each other: stages exchange data during the recorded work; leave "
        "--cuda-graph out");
  if (o.check_saved)
    refuse(
        "--check-saved compares calls of the whole network, and a pipeline stage runs a part: give "
        "--n-pipeline-stages 1");
  if (is_file) return {pipeline_kind::interleaved, detail::table_of_file(o.schedule, on.pp, o.chunks_per_stage)};
  bool const interleaved = kind == pipeline_kind::interleaved;
  if (interleaved != (o.chunks_per_stage > 1))
    refuse(
        "--schedule " + o.schedule + " with --chunks-per-stage " + std::to_string(o.chunks_per_stage) +
        (interleaved ? ": give at least 2 chunks per stage" : ": give --schedule interleaved, or 1 chunk per stage"));
  return {*kind, nullptr};
}

REDCO_INLINE void set_stages(cost::setup& run, shape::stage_cuts const& cuts, stage_schedule const& order) {
  run.stages.cuts = cuts;
  run.stages.chunks_per_stage = cuts.size() / cuts.stages();
  run.stages.schedule = order.kind;
  run.table = order.table.get();
}

REDCO_INLINE void check_micro_batches(data::batch_step const& step, std::int64_t global_batch,
                                      stage_schedule const& order, mesh const& on) {
  std::int64_t const micro_batches = step.micro_batches;
  if (on.pp == 1 || step.global.size() < global_batch) return;
  auto const refuse = [&](std::string const& takes, std::string const& legal) {
    throw error(exit_code::usage, takes + ", and a step has " + std::to_string(micro_batches) +
                                      " micro-batches per replica: choose the global batch or the micro-batch for " +
                                      legal + ", or give --schedule 1f1b");
  };
  if (order.table != nullptr) {
    std::string const wanted = std::to_string(order.table->micro_batches);
    if (micro_batches != order.table->micro_batches)
      refuse("the file of --schedule has " + wanted + " micro-batches", wanted);
  } else if (order.kind == schedule::pipeline_kind::interleaved && micro_batches % on.pp != 0) {
    std::int64_t const below = micro_batches / on.pp * on.pp;
    refuse("--schedule interleaved takes a multiple of the " + std::to_string(on.pp) + " pipeline stages",
           (below > 0 ? std::to_string(below) + " or " : "") + std::to_string(below + on.pp));
  }
}

REDCO_INLINE void check_stage_layers(fact::program const& of, mesh const& on) {
  fact::message_fact const* const one = on.pp > 1 ? cost::first_between_replicas(of) : nullptr;
  if (one != nullptr)
    throw error(exit_code::usage, "mesh " + options::to_text(on) + ": the layer '" + std::string(one->layer.view()) +
                                      "' communicates between replicas, as batch norm does, which pipeline stages do "
                                      "not support: give --n-pipeline-stages 1");
}

REDCO_INLINE std::string stages_picture(shape::stage_cuts const& cuts, stage_schedule const& order,
                                        std::int64_t micro_batches) {
  int const stages = cuts.stages();
  bool const is_file = order.table != nullptr && order.table->micro_batches == micro_batches;
  std::int64_t const drawn = is_file ? micro_batches : std::min<std::int64_t>(micro_batches, 4 * stages);
  schedule::pipeline_table const table =
      schedule::table_of(schedule::step_facts{.micro_batches = drawn,
                                              .stages = stages,
                                              .schedule = order.kind,
                                              .chunks_per_stage = cuts.size() / stages,
                                              .table = is_file ? order.table.get() : nullptr});
  std::vector<schedule::chunk_times> times;
  for (std::int64_t const blocks : cuts.lengths()) times.push_back({blocks, blocks, blocks, 0});
  auto const number = [&] {
    std::string const all = std::to_string(micro_batches);
    return drawn < micro_batches ? std::to_string(drawn) + " of " + all : all;
  };
  return report::pipeline_picture(
      table, schedule::simulate(table, times),
      (is_file ? "schedule of a file" : std::string(schedule::pipeline_kind_texts.text_of(order.kind))) + ", " +
          std::to_string(stages) + " stages, " + number() + " micro-batches");
}

}  // namespace redco::run
