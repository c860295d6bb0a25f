#pragma once

#include <redco/comm/rank_context.hpp>
#include <redco/options/deployer_options.hpp>
#include <redco/fact/program.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/schedule/pipeline_table.hpp>

#include <cstdint>

namespace redco::run {

/// Returns the order in which pipeline stages compute micro-batches, as the option --schedule names
/// it. Throws `error` with exit code 64 for another name, or for an order that can only be planned.
schedule::pipeline_kind schedule_of(deployer_options const& options);

/// Throws `error` with exit code 64 if the mesh has pipeline stages and an option excludes them.
void check_stage_options(deployer_options const& options, mesh const& on);

/// Throws `error` with exit code 64 if pipeline stages cannot compute this number of micro-batches per
/// replica in the order of the option --schedule. The last, smaller batch of an epoch may have any
/// number.
void check_micro_batches(std::int64_t micro_batches, deployer_options const& options, mesh const& on);

/// Throws `error` with exit code 64 if the mesh has pipeline stages and a layer of the model cannot
/// run on one of them: layers that communicate between replicas, as batch norm does.
void check_stage_layers(fact::program const& of, mesh const& on);

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/stage_choices.inl.hpp>
#endif
