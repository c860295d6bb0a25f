#pragma once

#include <redco/run/update_record.hpp>
#include <redco/run/verify_result.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>

#include <string>
#include <vector>

namespace redco::run {

/// How one update differs between one rank and the mesh, equal on all ranks.
struct compared_update {
  verify_step step;
  verify_tolerance tolerance;
  std::vector<verify_row> rows;  ///< one per parameter, in the order of the store
};

/// Compares this rank's part of an update with the update of the whole network on one rank. All
/// ranks call it; they exchange one small tensor. `compute` is what the networks compute in; a loss
/// in a narrower type allows as much as it does. Errors: exit code 70 for an update of another
/// network.
compared_update compare_updates(rank_context& rank, std::string const& name, update_record const& own,
                                update_record const& alone, dtype compute);

/// Adds up what updates came to: rows worst first, and what differs first. `layer` of the result
/// stays empty. Parameters that never moved are looked for where `whole`, behind the last update.
verify_result verify_result_of(std::vector<compared_update> const& updates, mesh const& on, dtype compute,
                               bool whole = true);

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/compare_updates.inl.hpp>
#endif
