#pragma once

#include <redco/workdir/find_checkpoint.hpp>

#include <redco/workdir/branch.hpp>
#include <redco/workdir/checkpoint_names.hpp>
#include <redco/workdir/detail/parse_manifest.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/diag/input_file.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <utility>

namespace redco::workdir::detail {

/// The content of the file `last_ckpt.txt`, which names the newest checkpoint.
struct pointer_state {
  bool there = false;  ///< true if the file `last_ckpt.txt` exists
  /// Step that `last_ckpt.txt` names; empty if the file is invalid or the checkpoint does not
  /// exist.
  std::optional<std::int64_t> step;
};

inline pointer_state read_pointer(std::filesystem::path const& directory) {
  std::filesystem::path const path = directory / checkpoint_names::pointer_file;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path))) return {};
  try {
    std::string const text = diag::input_file(path).text(256);
    auto const step = checkpoint_names::step_of(text.substr(0, text.find_first_of("\r\n")));
    if (step && std::filesystem::is_directory(directory / checkpoint_names::of_step(*step))) return {true, step};
  } catch (error const& failure) {
    if (failure.code() != exit_code::data) throw;
  }
  return {true, std::nullopt};
}

/// Renames the folder of a damaged checkpoint to `.corrupt-...` and returns the new path. Does not
/// remove the folder, because a user may want to inspect or repair it.
inline std::filesystem::path put_aside(std::filesystem::path const& checkpoint) {
  std::string const name = ".corrupt-" + checkpoint.filename().string();
  std::filesystem::path const aside = free_name(checkpoint.parent_path(), name);
  std::error_code failed;
  std::filesystem::rename(checkpoint, aside, failed);
  if (failed) safetensors::throw_io("rename to", aside, failed.value());
  return aside;
}

/// Returns the steps of the checkpoints in `directory` in the order in which a search tries them.
/// Checkpoints of the current run (the run of the checkpoint in `last_ckpt.txt`) come first, then
/// those of other runs, each group newest first. Otherwise an old, longer run would win over the
/// current run. Steps after the pointer's step may belong to the current run, which can be killed
/// before it writes `last_ckpt.txt`.
inline std::vector<std::int64_t> candidates(std::filesystem::path const& directory, pointer_state const& pointer) {
  std::vector<std::int64_t> steps = checkpoint_names::steps_in(directory);
  if (!pointer.step) return steps;
  auto const run_of = [&](std::int64_t step) {
    try {
      return read_manifest(directory / checkpoint_names::of_step(step)).run;
    } catch (error const&) {
      return std::string();  // damaged: tried and reported in the order of its step
    }
  };
  std::string const current = run_of(*pointer.step);
  std::stable_partition(steps.begin(), steps.end(), [&](std::int64_t step) {
    std::string const run = step == *pointer.step ? current : run_of(step);
    return run.empty() || current.empty() || run == current;
  });
  return steps;
}

inline std::optional<found_checkpoint> find_newest(std::filesystem::path const& directory,
                                                   find_options const& options) {
  pointer_state const pointer = read_pointer(directory);
  std::string const pointer_path = (directory / checkpoint_names::pointer_file).string();
  if (pointer.there && !pointer.step)
    options.warn(pointer_path + " is unreadable or names no checkpoint; taking the newest complete one instead");
  std::size_t damaged = 0;
  for (std::int64_t const step : candidates(directory, pointer)) {
    std::filesystem::path const checkpoint = directory / checkpoint_names::of_step(step);
    try {
      found_checkpoint found{checkpoint, check_checkpoint(checkpoint, options.verify)};
      if (options.also_check) options.also_check(found);
      if (damaged > 0)
        options.warn("falling back to " + checkpoint.string() + ": the work after step " + std::to_string(step) +
                     " is done again");
      return found;
    } catch (newer_format const&) {
      throw;
    } catch (error const& failure) {
      if (failure.code() != exit_code::data) throw;
      ++damaged;
      std::string text = "checkpoint " + checkpoint.string() + " is damaged: " + failure.what();
      if (options.quarantine) text += " It is kept as " + put_aside(checkpoint).string() + ".";
      options.warn(text);
    }
  }
  bool const remains =
      std::filesystem::is_directory(directory) &&
      std::any_of(std::filesystem::directory_iterator(directory), std::filesystem::directory_iterator(),
                  [](auto const& entry) { return entry.path().filename().string().starts_with(".corrupt-"); });
  if (pointer.there || damaged > 0 || remains) {
    throw error(
        exit_code::data,
        "there were checkpoints in " + directory.string() +
            ", and none of them is complete. Restore one, give --resume PATH, or start over with --resume none.");
  }
  return std::nullopt;
}

/// Returns the checkpoint at `path`: a checkpoint, a link to one, or a workdir. Throws `error` with
/// exit code 65 if there is none or it is damaged.
inline found_checkpoint checkpoint_at(std::filesystem::path const& path, find_options const& options) {
  if (std::filesystem::is_directory(path / checkpoint_names::folder)) {
    find_options of_other = options;
    of_other.quarantine = false;
    if (auto found = find_newest(path / checkpoint_names::folder, of_other)) return std::move(*found);
  }
  if (!std::filesystem::exists(path / "manifest.json")) {
    throw error(exit_code::data,
                "there is no checkpoint at " + path.string() +
                    ": no manifest.json in it. Give the path of a step_<n> directory or of a workdir.");
  }
  // A pointer may be replaced while the checkpoint is read, but the directory stays.
  std::filesystem::path const directory = std::filesystem::canonical(path);
  found_checkpoint found{directory, check_checkpoint(directory, options.verify)};
  if (options.also_check) options.also_check(found);
  return found;
}

/// Returns the beginning of the branch to which the newest readable checkpoint in `folder` belongs.
inline manifest::branch_facts newest_branch(std::filesystem::path const& folder) {
  for (std::int64_t const step : candidates(folder, read_pointer(folder))) {
    try {
      return read_manifest(folder / checkpoint_names::of_step(step)).branch;
    } catch (error const& failure) {
      if (failure.code() != exit_code::data) throw;
    }
  }
  return {};
}

/// Returns the checkpoint of the branch that begins, or has begun, at `path`.
inline std::optional<found_checkpoint> find_in_branch(std::filesystem::path const& folder,
                                                      std::filesystem::path const& path, find_options const& options) {
  std::string const origin = branch_path(path);
  if (newest_branch(folder).path == origin) return find_newest(folder, options);
  found_checkpoint found = checkpoint_at(path, options);
  found.facts.branch = {origin, found.facts.step};
  return found;
}

/// Returns the checkpoint from which --resume auto continues. In a folder without checkpoints, this
/// is the beginning of a branch that was killed before its first save.
inline std::optional<found_checkpoint> find_current(std::filesystem::path const& folder, find_options const& options) {
  auto found = find_newest(folder, options);
  if (found) return found;
  if (auto const note = read_branch_note(folder); note && !note->path.empty())
    return find_in_branch(folder, path_of_branch(note->path), options);
  std::error_code absent;
  for (auto const& entry : std::filesystem::directory_iterator(folder, absent)) {
    if (!entry.path().filename().string().starts_with(".older-")) continue;
    options.warn("no checkpoint to continue in " + folder.string() + ", but older ones such as " +
                 entry.path().string() + ": the run begins at step 0; give --resume PATH to continue one of them");
    break;
  }
  return std::nullopt;
}

}  // namespace redco::workdir::detail

namespace redco::workdir {

REDCO_INLINE std::optional<found_checkpoint> find_checkpoint(std::filesystem::path const& workdir,
                                                             std::string_view resume, find_options const& options) {
  std::filesystem::path const folder = workdir / checkpoint_names::folder;
  if (resume == "none") return std::nullopt;
  if (resume == "auto")
    return options.branches ? detail::find_current(folder, options) : detail::find_newest(folder, options);
  return options.branches ? detail::find_in_branch(folder, resume, options) : detail::checkpoint_at(resume, options);
}

}  // namespace redco::workdir
