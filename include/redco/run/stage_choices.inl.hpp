#pragma once

#include <redco/run/stage_choices.hpp>

#include <redco/options/value_text.hpp>
#include <redco/shape/axis.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <optional>
#include <string>

namespace redco::run {

REDCO_INLINE schedule::pipeline_kind schedule_of(deployer_options const& options) {
  auto const kind = schedule::pipeline_kind_texts.value_of(options.schedule);
  using schedule::pipeline_kind;
  if (kind == pipeline_kind::gpipe || kind == pipeline_kind::one_f_one_b || kind == pipeline_kind::interleaved)
    return *kind;
  throw error(exit_code::usage, "--schedule " + options.schedule +
                                    (kind ? " can be planned and drawn by redco-plan, but not run" : " is not known") +
                                    ": give 1f1b, gpipe or interleaved");
}

REDCO_INLINE void check_stage_options(deployer_options const& options, mesh const& on) {
  auto const refuse = [](std::string const& message) { throw error(exit_code::usage, message); };
  bool const interleaved = schedule_of(options) == schedule::pipeline_kind::interleaved;
  if (on.pp > 1 && interleaved != options.chunks_per_stage > 1)
    refuse(
        "--schedule " + options.schedule + " with --chunks-per-stage " + std::to_string(options.chunks_per_stage) +
        (interleaved ? ": give at least 2 chunks per stage" : ": give --schedule interleaved, or 1 chunk per stage"));
  if (on.pp == 1) {
    if (options.chunks_per_stage > 1)
      refuse("--chunks-per-stage " + std::to_string(options.chunks_per_stage) +
             " without pipeline stages: give --n-pipeline-stages, or leave it out");
    if (!options.stages.empty())
      refuse("--stages " + options.stages + " without pipeline stages: give --n-pipeline-stages, or leave it out");
    return;
  }
  if (options.cuda_graph)
    refuse(
        "--cuda-graph and pipeline stages exclude each other: stages exchange data during the recorded work; leave "
        "--cuda-graph out");
  if (options.check_saved)
    refuse(
        "--check-saved compares calls of the whole network, and a pipeline stage runs a part: give "
        "--n-pipeline-stages 1");
}

REDCO_INLINE void check_micro_batches(std::int64_t micro_batches, deployer_options const& options, mesh const& on) {
  if (on.pp == 1 || schedule_of(options) != schedule::pipeline_kind::interleaved || micro_batches % on.pp == 0) return;
  std::int64_t const below = micro_batches / on.pp * on.pp;
  throw error(exit_code::usage, "--schedule interleaved takes a multiple of " + std::to_string(on.pp) +
                                    " micro-batches for " + std::to_string(on.pp) +
                                    " pipeline stages, and a step has " + std::to_string(micro_batches) +
                                    " per replica: choose the global batch or the micro-batch for " +
                                    (below > 0 ? std::to_string(below) + " or " : "") + std::to_string(below + on.pp) +
                                    ", or give --schedule 1f1b");
}

REDCO_INLINE void check_stage_layers(fact::program const& of, mesh const& on) {
  if (on.pp == 1) return;
  for (fact::message_fact const& one : of.messages)
    if (one.over.has(shape::axis::dp))
      throw error(exit_code::usage, "mesh " + options::to_text(on) + ": the layer '" + std::string(one.layer.view()) +
                                        "' communicates between replicas, as batch norm does, which pipeline stages do "
                                        "not support: give --n-pipeline-stages 1");
}

}  // namespace redco::run
