#pragma once

#include <redco/safetensors/box.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/safetensors/output_file.hpp>
#include <redco/safetensors/safetensors_plan.hpp>
#include <redco/safetensors/tensor_table.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/input_file.hpp>

#include <algorithm>
#include <array>
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

/// Names of the files in a Hugging Face model folder, except the weights. The README.md of
/// pretrained/ lists which code reads each file.
inline constexpr std::array<std::string_view, 13> folder_files{"config.json",
                                                               "generation_config.json",
                                                               "tokenizer.json",
                                                               "tokenizer_config.json",
                                                               "tokenizer.model",
                                                               "spiece.model",
                                                               "special_tokens_map.json",
                                                               "added_tokens.json",
                                                               "vocab.json",
                                                               "vocab.txt",
                                                               "merges.txt",
                                                               "chat_template.jinja",
                                                               "preprocessor_config.json"};

/// A description of a safetensors file to write, which contains some of a model's tensors.
struct weights_file {
  std::string name;
  safetensors::safetensors_plan plan;
};

inline constexpr std::string_view weights_name = "model.safetensors";
inline constexpr std::string_view weights_index_name = "model.safetensors.index.json";

/// Returns the name of file `number` (from 1) among several weights files of a model, for example
/// "model-00002-of-00012.safetensors".
inline std::string shard_name(std::size_t number, std::size_t files) {
  auto const five = [](std::size_t n) {
    std::string const digits = std::to_string(n);
    return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
  };
  return "model-" + five(number) + "-of-" + five(files) + ".safetensors";
}

/// Divides a model's tensors, in the given order, into files with at most `file_bytes` bytes of
/// tensors; a larger tensor gets its own file. The files declare the format "pt" (PyTorch), because
/// Python libraries refuse files without this entry.
inline std::vector<weights_file> weights_files(safetensors::tensor_table const& tensors,
                                               std::vector<std::string> const& order, std::uint64_t file_bytes) {
  std::vector<std::vector<safetensors::safetensors_entry>> groups(1);
  std::uint64_t bytes = 0;
  for (std::string const& name : order) {
    safetensors::stored_tensor const& tensor = tensors.at(name);
    auto const own =
        static_cast<std::uint64_t>(safetensors::count_of(tensor.shape) * safetensors::size_of(tensor.type));
    if (!groups.back().empty() && bytes + own > file_bytes) {
      groups.emplace_back();
      bytes = 0;
    }
    bytes += own;
    groups.back().push_back({name, tensor.type, tensor.shape});
  }
  std::vector<weights_file> files;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    files.push_back({groups.size() == 1 ? std::string(weights_name) : shard_name(i + 1, groups.size()),
                     safetensors::plan_safetensors(std::move(groups[i]), {{"format", "pt"}})});
  }
  return files;
}

/// Returns the text of the index file of several weights files. The index names the file of each
/// tensor.
inline std::string weights_index(std::vector<weights_file> const& files) {
  std::map<std::string, std::string> file_of;
  std::uint64_t bytes = 0;
  for (weights_file const& file : files) {
    for (safetensors::safetensors_entry const& entry : file.plan.entries) {
      file_of[entry.name] = file.name;
      bytes += entry.end - entry.begin;
    }
  }
  return json::dump_json({{"metadata", {{"total_size", bytes}}}, {"weight_map", file_of}}, 2) + "\n";
}

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
