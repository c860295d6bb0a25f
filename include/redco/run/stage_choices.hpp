#pragma once

#include <redco/cost/setup.hpp>
#include <redco/options/deployer_options.hpp>
#include <redco/data/batches.hpp>
#include <redco/fact/program.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/stage_cuts.hpp>
#include <redco/schedule/pipeline_table.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace redco::run {

/// The order in which pipeline stages compute micro-batches: a kind of schedule, or a table from a
/// file.
struct stage_schedule {
  schedule::pipeline_kind kind = schedule::pipeline_kind::one_f_one_b;
  std::shared_ptr<schedule::pipeline_table const> table;  ///< null unless a file has the order
};

/// Returns the order of pipeline stages that the option --schedule names, on the mesh `on`. Throws
/// `error` with exit code 64 if the mesh has pipeline stages and an option excludes them, or if the
/// order can only be planned. Throws it with 65 for a file whose table cannot run.
stage_schedule schedule_of(deployer_options const& options, mesh const& on);

/// Sets the members of `run` that describe pipeline stages: the blocks of their chunks and the
/// order of micro-batches. `order` must outlive `run`.
void set_stages(cost::setup& run, shape::stage_cuts const& cuts, stage_schedule const& order);

/// Throws `error` with exit code 64 if pipeline stages cannot compute the replica's micro-batches
/// of a step in this order. The last, smaller batch of an epoch may have any number of
/// micro-batches.
void check_micro_batches(data::batch_step const& step, std::int64_t global_batch, stage_schedule const& order,
                         mesh const& on);

/// Throws `error` with exit code 64 if the mesh has pipeline stages and a layer of the model
/// communicates between replicas, as batch norm does. Stages do not run such layers.
void check_stage_layers(fact::program const& of, mesh const& on);

/// Returns a picture of a step with `micro_batches` micro-batches on the pipeline stages of the cut
/// `cuts`, in the order `order`. Forward of a block takes one unit of time, and backward two. A
/// schedule that repeats its course is drawn up to four micro-batches per stage.
std::string stages_picture(shape::stage_cuts const& cuts, stage_schedule const& order, std::int64_t micro_batches);

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/stage_choices.inl.hpp>
#endif
