#pragma once

#include <redco/workdir/checkpoint_names.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/safetensors/output_file.hpp>
#include <redco/diag/input_file.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace redco::workdir {

/// Returns the path of a checkpoint as text for manifests. The path is absolute, and its folder has
/// no links. "%", spaces and bytes outside of ASCII are written as "%" and two hexadecimal digits.
std::string branch_path(std::filesystem::path const& checkpoint);

/// Returns the path for which branch_path() returned `text`.
std::filesystem::path path_of_branch(std::string const& text);

/// Returns true if `checkpoint` is a folder step_<n> in `folder`, a run's folder of checkpoints.
bool is_step_of(std::filesystem::path const& folder, std::filesystem::path const& checkpoint);

/// The content of the file `.branch` in a run's folder of checkpoints. The file exists while
/// checkpoints of other branches are moved aside, and before the first save of a branch that begins
/// outside of the folder.
struct branch_note {
  static constexpr char const* file = ".branch";

  std::string path = {};                ///< beginning of the branch, as branch_path() returns it
  std::vector<std::string> moves = {};  ///< names of the checkpoints to move aside
};

/// Returns the note in the folder of checkpoints `folder`; empty if there is none.
std::optional<branch_note> read_branch_note(std::filesystem::path const& folder);

/// Returns the names of the checkpoints in `folder` that a run from the checkpoint `start` does not
/// continue: later steps, steps of other branches, and steps of other runs. Returns all names if
/// `start` is empty or is not a checkpoint of the folder. An earlier step with an unreadable
/// manifest stays.
std::vector<std::string> other_branches(std::filesystem::path const& folder, std::filesystem::path const& start);

}  // namespace redco::workdir

namespace redco::workdir::detail {

/// Returns the path in `folder` of a name that nothing has: `name`, or `name` with a number from 2
/// on.
inline std::filesystem::path free_name(std::filesystem::path const& folder, std::string const& name) {
  std::filesystem::path path = folder / name;
  for (int i = 2; std::filesystem::exists(std::filesystem::symlink_status(path)); ++i)
    path = folder / (name + "-" + std::to_string(i));
  return path;
}

/// Removes the links in `folder`, and `last_ckpt.txt`, that name one of `checkpoints`.
template <safetensors::file_ops Ops>
void remove_links(safetensors::disk<Ops>& disk, std::filesystem::path const& folder,
                  std::vector<std::string> const& checkpoints) {
  auto const named = [&](std::string const& name) {
    return std::find(checkpoints.begin(), checkpoints.end(), name) != checkpoints.end();
  };
  std::vector<std::filesystem::path> links;
  for (auto const& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_symlink() && named(std::filesystem::read_symlink(entry.path()).filename().string()))
      links.push_back(entry.path());
  if (auto const file = folder / checkpoint_names::pointer_file; std::filesystem::is_regular_file(file)) {
    std::string const text = diag::input_file(file).text(256);
    if (named(text.substr(0, text.find_first_of("\r\n")))) links.push_back(file);
  }
  for (auto const& link : links) disk.remove_all(link);
}

template <safetensors::file_ops Ops>
void write_branch_note(safetensors::disk<Ops>& disk, std::filesystem::path const& folder, branch_note const& note) {
  // A sweep removes names of this form.
  std::filesystem::path const unfinished = folder / ".tmp-branch";
  disk.remove_all(unfinished);
  safetensors::output_file<Ops> file(disk.ops(), unfinished);
  std::string text = note.path + "\n";
  for (std::string const& name : note.moves) text += name + "\n";
  file.write(text);
  file.finish();
  disk.rename(unfinished, folder / branch_note::file);
  disk.sync_directory(folder);
}

}  // namespace redco::workdir::detail

namespace redco::workdir {

/// Completes the moves of a note, also of one that a killed process left: removes the links to the
/// checkpoints, and renames each checkpoint to `.older-<name>`. Removes the note, unless the folder
/// still waits for the first save of a branch. Does nothing without a note. Throws `error` with
/// exit code 74 and the path if the disk fails.
template <safetensors::file_ops Ops>
void finish_branch(safetensors::disk<Ops>& disk, std::filesystem::path const& folder) {
  std::optional<branch_note> note = read_branch_note(folder);
  if (!note) return;
  detail::remove_links(disk, folder, note->moves);
  for (std::string const& name : note->moves)
    if (std::filesystem::exists(folder / name)) disk.rename(folder / name, detail::free_name(folder, ".older-" + name));
  disk.sync_directory(folder);
  if (note->path.empty() || !checkpoint_names::steps_in(folder).empty()) {
    disk.remove_all(folder / branch_note::file);
    disk.sync_directory(folder);
  } else if (!note->moves.empty()) {
    note->moves.clear();
    detail::write_branch_note(disk, folder, *note);
  }
}

/// Writes the note `note`, then completes it with finish_branch(). Creates the folder of
/// checkpoints if it does not exist. Throws `error` with exit code 74 and the path if the disk
/// fails.
template <safetensors::file_ops Ops>
void begin_branch(safetensors::disk<Ops>& disk, std::filesystem::path const& folder, branch_note const& note) {
  if (!std::filesystem::exists(folder)) {
    disk.make_directory(folder);
    disk.sync_directory(folder.parent_path().empty() ? "." : folder.parent_path());
  }
  detail::write_branch_note(disk, folder, note);
  finish_branch(disk, folder);
}

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/branch.inl.hpp>
#endif
