#pragma once

#include <redco/run/update_noise.hpp>
#include <redco/run/verify_records.hpp>
#include <redco/run/verify_result.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>

#include <string>
#include <vector>

namespace redco::run {

/// A comparison, for --verify, of one optimizer update on the mesh with the same update on one
/// rank. Equal on all ranks.
struct compared_update {
  verify_step step;
  verify_tolerance tolerance;
  /// Largest differences of each parameter: one row per parameter, in the order of the parameter
  /// store.
  std::vector<verify_row> rows;
};

/// Compares this rank's shard of an update (`own`) with the update of the whole network on one rank
/// (`alone`), whose rounding noise is `noise`. All ranks call it; they exchange small tensors.
/// Ranks that hold copies of a shard must have updated them to equal bits. `compute`: dtype in
/// which the networks compute; a loss in a narrower dtype widens the tolerance to that dtype's.
/// Throws `error` with exit code 70 if the records belong to different networks.
compared_update compare_updates(rank_context& rank, std::string const& name, update_record const& own,
                                update_record const& alone, update_noise const& noise, dtype compute);

/// Merges the comparisons of several updates into one result, with the worst parameters first and
/// the first difference. Leaves the member `layer` of the result empty. If `whole` is true,
/// parameters with a gradient that no update changed count as a difference: pass true after the
/// last update.
verify_result verify_result_of(std::vector<compared_update> const& updates, mesh const& on, dtype compute,
                               bool whole = true);

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/compare_updates.inl.hpp>
#endif
