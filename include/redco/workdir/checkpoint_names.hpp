#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace redco::workdir {

/// A set of functions and constants for the names in a run's folder of checkpoints, `ckpts/`.
struct checkpoint_names {
  static constexpr std::string_view folder = "ckpts";
  static constexpr std::string_view pointer_file = "last_ckpt.txt";
  static constexpr std::string_view last = "last";

  /// Returns the folder name of a checkpoint, such as "step_1200".
  static std::string of_step(std::int64_t step) { return "step_" + std::to_string(step); }

  /// Returns the step of a folder name such as "step_1200"; empty if `name` is not of this form.
  static std::optional<std::int64_t> step_of(std::string_view name) {
    constexpr std::string_view prefix = "step_";
    if (!name.starts_with(prefix)) return std::nullopt;
    std::string_view const digits = name.substr(prefix.size());
    std::int64_t step = 0;
    auto const [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
    if (failure != std::errc() || end != digits.data() + digits.size() || step < 0 || of_step(step) != name)
      return std::nullopt;
    return step;
  }

  /// Returns the steps of the checkpoint folders in `directory`, newest first. Ignores links.
  /// Returns an empty list if `directory` does not exist.
  static std::vector<std::int64_t> steps_in(std::filesystem::path const& directory) {
    std::vector<std::int64_t> steps;
    std::error_code absent;
    for (auto const& entry : std::filesystem::directory_iterator(directory, absent)) {
      if (entry.is_symlink() || !entry.is_directory()) continue;
      if (auto const step = step_of(entry.path().filename().string())) steps.push_back(*step);
    }
    std::sort(steps.rbegin(), steps.rend());
    return steps;
  }
};

/// Returns the kind of checkpoint file that stores the tensor `name`: "optimizer", "masters",
/// "objects" or "parameters".
inline std::string kind_of(std::string_view name) {
  if (name.starts_with("optimizer.")) return "optimizer";
  if (name.starts_with("master.")) return "masters";
  if (name.starts_with("object.")) return "objects";
  return "parameters";
}

/// Returns the name of the checkpoint file of kind `kind` that `rank` writes, such as
/// "parameters-0of2.safetensors". The two numbers count only the ranks that write a file of this
/// kind. `writers`: for each rank, the kinds of files that it writes, one per line.
inline std::string file_name(std::string const& kind, std::vector<std::string> const& writers, int rank) {
  int before = 0;
  int all = 0;
  for (std::size_t r = 0; r < writers.size(); ++r) {
    bool const writes = ("\n" + writers[r]).find("\n" + kind + "\n") != std::string::npos;
    all += writes;
    before += writes && static_cast<int>(r) < rank;
  }
  return kind + "-" + std::to_string(before) + "of" + std::to_string(all) + ".safetensors";
}

}  // namespace redco::workdir
