#pragma once

#include <redco/workdir/workdir_lock.hpp>

#include <string>

namespace redco::workdir {

/// Removes the unfinished folders of dead runs in the locked working directory, before `run` saves
/// there: see checkpoint_store::sweep(). Throws `error` with exit code 74 that names the path.
void sweep_checkpoints(workdir_lock const& lock, std::string const& run);

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/sweep_checkpoints.inl.hpp>
#endif
