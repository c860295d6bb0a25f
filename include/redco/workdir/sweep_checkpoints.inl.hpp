#pragma once

#include <redco/workdir/sweep_checkpoints.hpp>

#include <redco/workdir/checkpoint_store.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/config.hpp>

namespace redco::workdir {

REDCO_INLINE void sweep_checkpoints(workdir_lock const& lock, std::string const& run) {
  safetensors::posix_file_ops ops;
  checkpoint_store(ops, lock.workdir() / checkpoint_names::folder, run).sweep(lock);
}

}  // namespace redco::workdir
