#pragma once

#include <redco/pretrained/weights_files.hpp>
#include <redco/safetensors/disk.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/safetensors/output_file.hpp>

#include <redco/pretrained/folder_files.hpp>
#include <redco/diag/input_file.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace redco::pretrained {

/// Returns true if redco writes weights to files with this name: model.safetensors, its index, or
/// one of several numbered files.
inline bool is_weights_name(std::string_view name) {
  constexpr std::string_view shard = "model-#####-of-#####.safetensors";
  if (name == weights_name || name == weights_index_name) return true;
  return std::equal(name.begin(), name.end(), shard.begin(), shard.end(),
                    [](char c, char wanted) { return wanted == '#' ? c >= '0' && c <= '9' : c == wanted; });
}

/// A directory into which a model's weights are saved. Only rank 0 uses this class. Members throw
/// `error` with exit code 74 that names the path.
template <safetensors::file_ops Ops>
class weights_folder {
 public:
  weights_folder(Ops& ops, std::filesystem::path directory) : disk_(ops), directory_(std::move(directory)) {}

  /// Returns the temporary path under which the file `name` is written until all files are
  /// complete.
  std::filesystem::path unfinished(std::string_view name) const {
    return directory_ / (std::string(prefix) + std::string(name));
  }

  /// Prepares a save: creates the directory if it does not exist, and removes temporary files of an
  /// interrupted save.
  void begin() {
    if (!std::filesystem::exists(directory_)) {
      disk_.make_directory(directory_);
      disk_.sync_directory(directory_.parent_path().empty() ? "." : directory_.parent_path());
    }
    discard();
  }

  /// Copies `files` and writes `texts` into the directory, under temporary names until commit().
  /// Skips files that already exist with equal contents.
  void copy(std::map<std::string, std::filesystem::path> const& files,
            std::map<std::string, std::string> const& texts = {}) {
    for (auto const& [name, source] : files) write(name, diag::input_file(source).text(most_bytes));
    for (auto const& [name, text] : texts) write(name, text);
    if (files.empty() && texts.empty()) return;
    for (std::string_view const known : folder_files)
      if (std::string const name(known);
          !files.contains(name) && !texts.contains(name) && std::filesystem::exists(directory_ / name))
        foreign_.insert(name);
  }

  /// Completes a save: renames the temporary files, which must already be on disk, to their final
  /// names, and removes files of an older save.
  void commit(std::vector<weights_file> const& files) {
    std::set<std::string> names;
    for (weights_file const& file : files) names.insert(file.name);
    std::filesystem::path const index = directory_ / weights_index_name;
    if (files.size() > 1) {
      safetensors::output_file<Ops> text(disk_.ops(), unfinished(weights_index_name));
      text.write(weights_index(files));
      text.finish();
      // A crash must not leave an old index that lists new files.
      disk_.remove_all(index);
    }
    if (!changed_.empty() || !foreign_.empty()) {
      // A crash must not leave old weights together with new files.
      disk_.remove_all(index);
      disk_.remove_all(directory_ / weights_name);
    }
    disk_.sync_directory(directory_);
    for (std::string const& name : foreign_) disk_.remove_all(directory_ / name);
    for (std::string const& name : changed_) disk_.rename(unfinished(name), directory_ / name);
    for (std::string const& name : names) disk_.rename(unfinished(name), directory_ / name);
    disk_.sync_directory(directory_);
    if (files.size() > 1) {
      disk_.rename(unfinished(weights_index_name), index);
      disk_.sync_directory(directory_);
      names.insert(std::string(weights_index_name));
    }
    remove([&](std::string const& name) { return is_weights_name(name) && !names.contains(name); });
    disk_.sync_directory(directory_);
  }

  /// Removes the temporary files of an interrupted save.
  void discard() {
    remove([&](std::string_view name) {
      if (!name.starts_with(prefix)) return false;
      name.remove_prefix(prefix.size());
      return is_weights_name(name) || std::find(folder_files.begin(), folder_files.end(), name) != folder_files.end() ||
             changed_.contains(name);
    });
  }

 private:
  static constexpr std::string_view prefix = ".tmp-";
  /// Maximum size in bytes of a file that contains no weights
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

  void write(std::string const& name, std::string const& content) {
    if (std::filesystem::exists(directory_ / name) && diag::input_file(directory_ / name).text(most_bytes) == content)
      return;
    safetensors::output_file<Ops> file(disk_.ops(), unfinished(name));
    file.write(content);
    file.finish();
    changed_.insert(name);
  }

  template <class Condition>
  void remove(Condition condition) {
    std::error_code absent;
    std::vector<std::filesystem::path> found;
    for (auto const& entry : std::filesystem::directory_iterator(directory_, absent)) {
      if (condition(entry.path().filename().string())) found.push_back(entry.path());
    }
    for (auto const& path : found) disk_.remove_all(path);
  }

  safetensors::disk<Ops> disk_;
  std::filesystem::path directory_;
  /// Names of files without weights that this save adds or changes.
  std::set<std::string, std::less<>> changed_;
  std::set<std::string> foreign_;  ///< Names of files of an older save that commit() removes
};

}  // namespace redco::pretrained
