#pragma once

#include <redco/workdir/find_checkpoint.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/workdir/workdir_lock.hpp>

#include <map>
#include <string>

namespace redco::workdir {

/// Sets the links to checkpoints that a killed run has not set, as checkpoint_store::repair() does.
/// `newest`: the checkpoint from which the run continues. Returns the best values whose checkpoints
/// exist, or none if `newest` is in another workdir. Throws `error` with exit code 74 and the path
/// if the disk fails.
std::map<std::string, manifest::best_value> repair_checkpoints(workdir_lock const& lock,
                                                               found_checkpoint const& newest);

/// Removes unfinished checkpoint folders of earlier runs from the locked workdir, as
/// checkpoint_store::sweep() does. Call it before the run with the id `run` saves there. Throws
/// `error` with exit code 74 and the path if the disk fails.
void sweep_checkpoints(workdir_lock const& lock, std::string const& run);

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/repair_checkpoints.inl.hpp>
#endif
