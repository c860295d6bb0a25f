#pragma once

#include <redco/workdir/find_checkpoint.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/workdir/workdir_lock.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace redco::workdir {

/// Sets the links to checkpoints that a killed run has not set, as checkpoint_store::repair() does.
/// `newest`: the checkpoint from which the run continues. Returns the best values whose checkpoints
/// exist, or none if `newest` is in another workdir. Throws `error` with exit code 74 and the path
/// if the disk fails.
std::map<std::string, manifest::best_value> repair_checkpoints(workdir_lock const& lock,
                                                               found_checkpoint const& newest);

/// Removes unfinished checkpoint folders of earlier runs from the locked workdir, as
/// checkpoint_store::sweep() does, and completes moves to `.older-*`. Call it before the run with
/// the id `run` saves there. Throws `error` with exit code 74 and the path if the disk fails.
void sweep_checkpoints(workdir_lock const& lock, std::string const& run);

/// Renames to `.older-*` the checkpoints in the locked workdir that a run does not continue, so
/// that --resume auto finds the run's own. `start`: folder of the checkpoint from which the run
/// continues; empty for a new run. `branch`: beginning of the run's branch. Returns the names of
/// the renamed checkpoints. Call it before the first step. Throws `error` with exit code 74 and the
/// path if the disk fails.
std::vector<std::string> set_older_aside(workdir_lock const& lock, std::filesystem::path const& start,
                                         manifest::branch_facts const& branch);

/// Renames the checkpoint of step `step` in the locked workdir to `.older-*`. Throws `error` with
/// exit code 74 and the path if the disk fails.
void set_step_aside(workdir_lock const& lock, std::int64_t step);

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/repair_checkpoints.inl.hpp>
#endif
