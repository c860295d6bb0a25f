#pragma once

#include <redco/workdir/repair_checkpoints.hpp>

#include <redco/workdir/branch.hpp>
#include <redco/workdir/checkpoint_names.hpp>
#include <redco/workdir/checkpoint_store.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/config.hpp>

#include <filesystem>

namespace redco::workdir {

REDCO_INLINE std::map<std::string, manifest::best_value> repair_checkpoints(workdir_lock const& lock,
                                                                            found_checkpoint const& newest) {
  std::filesystem::path const folder = lock.workdir() / checkpoint_names::folder;
  if (!is_step_of(folder, newest.directory)) return {};
  safetensors::posix_file_ops ops;
  return checkpoint_store(ops, folder, newest.facts.run).repair(newest.facts);
}

REDCO_INLINE void sweep_checkpoints(workdir_lock const& lock, std::string const& run) {
  safetensors::posix_file_ops ops;
  checkpoint_store(ops, lock.workdir() / checkpoint_names::folder, run).sweep(lock);
  safetensors::disk disk(ops);
  finish_branch(disk, lock.workdir() / checkpoint_names::folder);
}

REDCO_INLINE std::vector<std::string> set_older_aside(workdir_lock const& lock, std::filesystem::path const& start,
                                                      manifest::branch_facts const& branch) {
  std::filesystem::path const folder = lock.workdir() / checkpoint_names::folder;
  bool const outside = !start.empty() && !is_step_of(folder, start);
  branch_note const note{outside ? branch.path : "", other_branches(folder, start)};
  if (note.moves.empty() && !outside && !read_branch_note(folder)) return {};
  safetensors::posix_file_ops ops;
  safetensors::disk disk(ops);
  begin_branch(disk, folder, note);
  return note.moves;
}

REDCO_INLINE void set_step_aside(workdir_lock const& lock, std::int64_t step) {
  safetensors::posix_file_ops ops;
  safetensors::disk disk(ops);
  begin_branch(disk, lock.workdir() / checkpoint_names::folder, {"", {checkpoint_names::of_step(step)}});
}

}  // namespace redco::workdir
