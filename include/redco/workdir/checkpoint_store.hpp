#pragma once

#include <redco/workdir/checkpoint_names.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/workdir/retention.hpp>
#include <redco/workdir/workdir_lock.hpp>
#include <redco/workdir/write_manifest.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/safetensors/output_file.hpp>
#include <redco/safetensors/replace_file.hpp>
#include <redco/safetensors/xxh64.hpp>

#include <redco/diag/error.hpp>
#include <redco/diag/input_file.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace redco::workdir {

/// A writer of a run's folder of checkpoints, `ckpts/`, for rank 0 only. If the process or the
/// machine stops during a call, everything that was complete before is still complete. Members
/// throw `error` with exit code 74 and the path if the disk fails, or with 70 if a name is invalid.
template <safetensors::file_ops Ops = safetensors::posix_file_ops>
class checkpoint_store {
 public:
  /// Creates a writer for the folder `directory`. `run`: id of the run, a plain file name. `ops`:
  /// system calls, which tests replace. `kept`: memory of earlier saves, which also deletes removed
  /// checkpoints; if null, retain() reads all manifests and the members delete at once.
  checkpoint_store(Ops& ops, std::filesystem::path directory, std::string run, retention* kept = nullptr)
      : disk_(ops), directory_(std::move(directory)), run_(std::move(run)), kept_(kept) {
    check_name(run_);
  }

  std::filesystem::path const& directory() const { return directory_; }

  /// Returns the folder into which the files of step `step`'s checkpoint are written until the
  /// checkpoint is complete.
  std::filesystem::path unfinished(std::int64_t step) const { return marked(unfinished_mark, step); }

  /// Creates the folder for the files of step `step`'s checkpoint and returns its path. The folder
  /// holds only the file `.token` with a random text, which commit() removes.
  std::filesystem::path begin(std::int64_t step) {
    if (!std::filesystem::exists(directory_)) {
      disk_.make_directory(directory_);
      disk_.sync_directory(directory_.parent_path().empty() ? "." : directory_.parent_path());
    }
    disk_.remove_all(unfinished(step));
    disk_.make_directory(unfinished(step));
    std::random_device entropy;
    safetensors::output_file<Ops> file(disk_.ops(), unfinished(step) / token_file);
    file.write(safetensors::xxh64::text_of((std::uint64_t{entropy()} << 32) | entropy()));
    file.finish();
    return unfinished(step);
  }

  /// Returns the random text that begin() has written into the folder of step `step`, or an empty
  /// text if this host has no such folder. Hosts with equal texts share the folder. A folder that
  /// an earlier run has left on a host's own disk has another text.
  std::string token(std::int64_t step) const {
    try {
      return diag::input_file(unfinished(step) / token_file, diag::links::refused).text(64);
    } catch (error const&) {
      return {};
    }
  }

  /// Completes a checkpoint: writes the manifest `facts` into the folder that begin() returned, and
  /// renames the folder to its final name in one step. The other files must be on the disk already.
  /// Returns the final path. Throws `error` with exit code 74 if a file of the manifest is not in
  /// the folder or has another size.
  std::filesystem::path commit(manifest const& facts) {
    std::filesystem::path const from = unfinished(facts.step);
    std::filesystem::path const to = directory_ / checkpoint_names::of_step(facts.step);
    check_files(from, facts);
    disk_.remove_all(from / token_file);
    safetensors::output_file<Ops> file(disk_.ops(), from / "manifest.json");
    file.write(write_manifest(facts));
    file.finish();
    disk_.sync_directory(from);
    if (std::filesystem::exists(std::filesystem::symlink_status(to))) {
      replace_checkpoint(from, to, facts.step);
    } else {
      disk_.rename(from, to);
      disk_.sync_directory(directory_);
    }
    if (kept_ != nullptr) kept_->add_saved(facts.step);
    return to;
  }

  /// Replaces the manifest of the complete checkpoint of step `facts.step`: takes the best values,
  /// the patience and `interrupted` of `facts`, and adds `names`. A crash leaves the old or the new
  /// manifest.
  void amend(manifest const& facts, std::vector<std::string> const& names) {
    std::filesystem::path const checkpoint = directory_ / checkpoint_names::of_step(facts.step);
    manifest all = read_manifest(checkpoint);
    all.best = facts.best;
    all.patience = facts.patience;
    all.interrupted = facts.interrupted;
    for (std::string const& name : names)
      if (std::find(all.names.begin(), all.names.end(), name) == all.names.end()) all.names.push_back(name);
    std::filesystem::path const text = temporary("manifest.json");
    disk_.remove_all(text);
    safetensors::output_file<Ops> file(disk_.ops(), text);
    file.write(write_manifest(all));
    file.finish();
    disk_.rename(text, checkpoint / "manifest.json");
    disk_.sync_directory(checkpoint);
  }

  /// Removes the folder that begin() has created for step `step`. Call it after a failed save.
  void discard(std::int64_t step) { disk_.remove_all(unfinished(step)); }

  /// Makes `last_ckpt.txt` and the link `last` name the checkpoint of step `step`. Also makes a
  /// link to it for each of `names`, such as epoch_3 or min_loss.
  void point(std::int64_t step, std::vector<std::string> const& names) {
    std::string const target = checkpoint_names::of_step(step);
    std::filesystem::path const text = temporary(std::string(checkpoint_names::pointer_file));
    disk_.remove_all(text);
    safetensors::output_file<Ops> file(disk_.ops(), text);
    file.write(target + "\n");
    file.finish();
    replace(text, checkpoint_names::pointer_file);
    link(checkpoint_names::last, target);
    for (std::string const& name : names) {
      check_name(name);
      link(name, target);
    }
  }

  /// Sets the links that a run has not set because it was killed between commit() and point():
  /// `last`, the names of the newest checkpoint, and the best checkpoints. The manifest `newest`
  /// lists them. Call it before retain(), which removes checkpoints without a link. Returns the
  /// best values whose checkpoints exist.
  std::map<std::string, manifest::best_value> repair(manifest const& newest) {
    point(newest.step, newest.names);
    std::map<std::string, manifest::best_value> there;
    for (auto const& [name, best] : newest.best) {
      if (!saved_by_this_run(best.step)) continue;
      check_name(name);
      link(name, checkpoint_names::of_step(best.step));
      there[name] = best;
    }
    return there;
  }

  /// Removes this run's checkpoints, oldest first, except the newest `keep_last`; 0 keeps all.
  /// Never removes a checkpoint that a link names, that another run has saved, or whose manifest
  /// cannot be read.
  void retain(int keep_last) {
    if (keep_last <= 0) return;
    std::set<std::string> const named = pointed_at();
    std::vector<std::int64_t> own;
    for (std::int64_t const step : checkpoint_names::steps_in(directory_)) {
      auto const reads = [&] { return saved_by_this_run(step); };
      if (kept_ != nullptr ? kept_->has_saved(step, reads) : reads()) own.push_back(step);
    }
    for (std::size_t i = own.size(); i-- > static_cast<std::size_t>(keep_last);) {
      std::string const name = checkpoint_names::of_step(own[i]);
      if (named.contains(name)) continue;
      remove_checkpoint(directory_ / name, own[i]);
    }
  }

  /// Removes unfinished checkpoint folders of earlier runs, and unfinished files in their workdir,
  /// such as eval_results.json.unfinished.71. Holding `lock` proves that those runs have ended.
  /// Also completes a commit() that was killed while it replaced a checkpoint: the new folder gets
  /// the name if it is complete, else the old folder gets its name back.
  void sweep(workdir_lock const& lock) {
    std::filesystem::path const folder = lock.workdir() / checkpoint_names::folder;
    std::error_code absent;
    std::vector<std::filesystem::path> left, replaced;
    for (auto const& entry : std::filesystem::directory_iterator(folder, absent)) {
      std::string const name = entry.path().filename().string();
      if (name.starts_with(unfinished_mark) || name.starts_with(trash_mark)) left.push_back(entry.path());
      if (name.starts_with(replaced_mark)) replaced.push_back(entry.path());
    }
    for (auto const& entry : std::filesystem::directory_iterator(lock.workdir(), absent))
      if (entry.is_regular_file(absent) && safetensors::is_unfinished_name(entry.path().filename().string()))
        left.push_back(entry.path());
    for (auto const& path : replaced) finish_replacing(folder, path);
    for (auto const& path : left) disk_.remove_all(path);
  }

 private:
  static constexpr std::string_view unfinished_mark = ".tmp-", trash_mark = ".trash-", replaced_mark = ".replaced-",
                                    token_file = ".token";

  static void check_name(std::string const& name) {
    if (!safetensors::plain_name(name) || checkpoint_names::step_of(name) || name == checkpoint_names::pointer_file) {
      throw error(exit_code::internal,
                  safetensors::shown(name) +
                      " cannot name a run or a checkpoint: it must be a plain file name. Choose another.");
    }
  }

  /// Throws `error` with exit code 74 unless each file of `facts` is in the folder `from` with its
  /// size. Opens the files, because network file systems may show an old size until then.
  static void check_files(std::filesystem::path const& from, manifest const& facts) {
    for (auto const& [name, file] : facts.files) {
      std::optional<std::uint64_t> bytes;
      try {
        bytes = diag::input_file(from / name, diag::links::refused).size();
      } catch (error const& failure) {
        if (failure.code() != exit_code::data) throw;
      }
      if (bytes == file.bytes) continue;
      throw error(exit_code::io, "the checkpoint of step " + std::to_string(facts.step) +
                                     " is not complete: " + (from / name).string() +
                                     (bytes ? " has " + std::to_string(*bytes) + " bytes, not " : " is missing, of ") +
                                     std::to_string(file.bytes) + (bytes ? "" : " bytes") +
                                     ". Put the workdir into a folder that all hosts share; older checkpoints are "
                                     "untouched.");
    }
  }

  std::filesystem::path marked(std::string_view mark, std::int64_t step) const {
    return directory_ / (std::string(mark) + checkpoint_names::of_step(step) + "-" + run_);
  }
  std::filesystem::path temporary(std::string const& name) const {
    return directory_ / (std::string(unfinished_mark) + name + "-" + run_);
  }

  /// Gives the complete folder `from` the name `to`, which the checkpoint of an earlier save has.
  /// One of the two is complete on the disk at any time.
  void replace_checkpoint(std::filesystem::path const& from, std::filesystem::path const& to, std::int64_t step) {
    // The name of the new folder becomes durable before the old folder loses its name.
    disk_.sync_directory(directory_);
    if (disk_.ops().exchange(from.c_str(), to.c_str()) == 0) {
      disk_.sync_directory(directory_);
      return remove_checkpoint(from, step);
    }
    // The file system cannot swap names: sweep() completes what a crash interrupts here.
    std::filesystem::path const old = marked(replaced_mark, step);
    disk_.remove_all(old);
    disk_.rename(to, old);
    try {
      disk_.rename(from, to);
    } catch (error const&) {
      disk_.rename(old, to);
      throw;
    }
    disk_.sync_directory(directory_);
    remove_checkpoint(old, step);
  }

  /// Deletes a checkpoint's folder. A half-removed checkpoint under its own name would look
  /// damaged, so it is renamed first.
  void remove_checkpoint(std::filesystem::path const& path, std::int64_t step) {
    std::filesystem::path const gone = marked(trash_mark, step);
    if (kept_ != nullptr && std::filesystem::exists(gone)) kept_->wait();
    disk_.remove_all(gone);
    disk_.rename(path, gone);
    disk_.sync_directory(directory_);
    if (kept_ != nullptr) kept_->remove_later(gone);
    else disk_.remove_all(gone);
  }

  /// Completes a commit() that was killed after it had renamed the replaced checkpoint to `old`.
  /// Keeps `old` if the checkpoint that has its name is damaged.
  void finish_replacing(std::filesystem::path const& folder, std::filesystem::path const& old) {
    // For example "step_4-run".
    std::string const rest = old.filename().string().substr(replaced_mark.size());
    std::filesystem::path const complete = folder / (std::string(unfinished_mark) + rest);
    std::filesystem::path const to = folder / rest.substr(0, rest.find('-'));
    if (!std::filesystem::exists(to)) {
      disk_.rename(is_complete(complete) ? complete : old, to);
      disk_.sync_directory(folder);
    }
    if (is_complete(to)) disk_.remove_all(old);
  }

  static bool is_complete(std::filesystem::path const& checkpoint) {
    try {
      check_checkpoint(checkpoint, false);
      return true;
    } catch (error const&) {
      return false;
    }
  }

  void link(std::string_view name, std::string const& target) {
    std::filesystem::path const path = temporary(std::string(name));
    disk_.remove_all(path);
    disk_.make_link(target, path);
    replace(path, name);
  }

  void replace(std::filesystem::path const& from, std::string_view name) {
    disk_.rename(from, directory_ / name);
    disk_.sync_directory(directory_);
  }

  bool saved_by_this_run(std::int64_t step) const {
    try {
      return read_manifest(directory_ / checkpoint_names::of_step(step)).run == run_;
    } catch (error const&) {
      return false;  // never remove an unreadable checkpoint
    }
  }

  std::set<std::string> pointed_at() const {
    std::set<std::string> names;
    for (auto const& entry : std::filesystem::directory_iterator(directory_)) {
      if (entry.is_symlink()) names.insert(std::filesystem::read_symlink(entry.path()).filename().string());
    }
    std::filesystem::path const path = directory_ / checkpoint_names::pointer_file;
    if (std::filesystem::exists(path)) {
      std::string const text = diag::input_file(path).text(256);
      names.insert(text.substr(0, text.find('\n')));
    }
    return names;
  }

  safetensors::disk<Ops> disk_;
  std::filesystem::path directory_;
  std::string run_;
  retention* kept_;
};

}  // namespace redco::workdir
