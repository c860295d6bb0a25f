#pragma once

#include <redco/workdir/workdir_lock.hpp>

#include <string>

namespace redco::workdir {

/// Removes unfinished checkpoint folders of earlier runs from the locked workdir, as
/// checkpoint_store::sweep() does. Call it before the run with the id `run` saves there. Throws
/// `error` with exit code 74 and the path if the disk fails.
void sweep_checkpoints(workdir_lock const& lock, std::string const& run);

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/sweep_checkpoints.inl.hpp>
#endif
