#pragma once

#include <redco/workdir/find_checkpoint.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/workdir/workdir_lock.hpp>

#include <map>
#include <string>

namespace redco::workdir {

/// Sets the pointers that a killed run left behind in the locked working directory, where the newest checkpoint is the
/// one that a run continues from: see `checkpoint_store::repair`. Returns the best values whose checkpoints are there;
/// of a checkpoint from elsewhere there are none. Errors: 74 naming the path.
std::map<std::string, manifest::best_value> repair_checkpoints(workdir_lock const& lock,
                                                               found_checkpoint const& newest);

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/repair_checkpoints.inl.hpp>
#endif
