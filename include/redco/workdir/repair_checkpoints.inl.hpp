#pragma once

#include <redco/workdir/repair_checkpoints.hpp>

#include <redco/workdir/checkpoint_store.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/config.hpp>

#include <filesystem>
#include <system_error>

namespace redco::workdir {

REDCO_INLINE std::map<std::string, manifest::best_value> repair_checkpoints(workdir_lock const& lock,
                                                                            found_checkpoint const& newest) {
  std::filesystem::path const folder = lock.workdir() / checkpoint_names::folder;
  std::error_code none;
  if (!std::filesystem::equivalent(newest.directory.parent_path(), folder, none)) return {};
  safetensors::posix_file_ops ops;
  return checkpoint_store(ops, folder, newest.facts.run).repair(newest.facts);
}

REDCO_INLINE void sweep_checkpoints(workdir_lock const& lock, std::string const& run) {
  safetensors::posix_file_ops ops;
  checkpoint_store(ops, lock.workdir() / checkpoint_names::folder, run).sweep(lock);
}

}  // namespace redco::workdir
