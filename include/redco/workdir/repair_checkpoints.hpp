#pragma once

#include <redco/workdir/find_checkpoint.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/workdir/workdir_lock.hpp>

#include <map>
#include <string>

namespace redco::workdir {

/// Sets the pointers that a killed run left unset in the locked working directory: see
/// checkpoint_store::repair(). `newest` is the checkpoint from which the run continues. Returns the
/// best values whose checkpoints exist, or none if `newest` is in another directory. Throws `error`
/// with exit code 74 that names the path.
std::map<std::string, manifest::best_value> repair_checkpoints(workdir_lock const& lock,
                                                               found_checkpoint const& newest);

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/repair_checkpoints.inl.hpp>
#endif
