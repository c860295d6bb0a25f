#pragma once

#include <algorithm>
#include <charconv>
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

}  // namespace redco::workdir
