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
  if (kind == schedule::pipeline_kind::gpipe || kind == schedule::pipeline_kind::one_f_one_b) return *kind;
  throw error(exit_code::usage, "--schedule " + options.schedule +
                                    (kind ? " can be planned and drawn by redco-plan, but not run" : " is not known") +
                                    ": give 1f1b or gpipe");
}

REDCO_INLINE void check_stage_options(deployer_options const& options, mesh const& on) {
  auto const refuse = [](std::string const& message) { throw error(exit_code::usage, message); };
  schedule_of(options);
  if (on.pp == 1) {
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

REDCO_INLINE void check_stage_layers(fact::program const& of, mesh const& on) {
  if (on.pp == 1) return;
  for (fact::message_fact const& one : of.messages)
    if (one.over.has(shape::axis::dp))
      throw error(exit_code::usage, "mesh " + options::to_text(on) + ": the layer '" + std::string(one.layer.view()) +
                                        "' communicates between replicas, as batch norm does, which pipeline stages do "
                                        "not support: give --n-pipeline-stages 1");
}

}  // namespace redco::run
