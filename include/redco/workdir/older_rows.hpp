#pragma once

#include <redco/log/metrics_log.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/safetensors/output_file.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace redco::workdir::detail {

/// Returns the complete lines of `file` from byte `begin` on.
inline std::string lines_from(std::filesystem::path const& file, std::uintmax_t begin) {
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(begin));
  std::string lines, line;
  while (std::getline(in, line) && !in.eof()) lines += line + '\n';
  return lines;
}

}  // namespace redco::workdir::detail

namespace redco::workdir {

/// Copies the rows of `metrics` (metrics.jsonl) after step `last_step` to a new file in its folder,
/// because a run that continues from `last_step` removes them. The new file is
/// metrics.older-step_<last_step>.jsonl, with -2, -3 ... after the step if the name is taken.
/// Returns its path, or an empty path if there are no such rows. A file that already has exactly
/// these rows is not copied again. Throws `error` with exit code 74 and the path if the disk fails;
/// `metrics` is never changed.
template <safetensors::file_ops Ops>
std::filesystem::path keep_older_rows(safetensors::disk<Ops>& disk, std::filesystem::path const& metrics,
                                      std::int64_t last_step) {
  auto const kept = log::metrics_log::kept_bytes(metrics, last_step);
  std::string const rows = kept ? detail::lines_from(metrics, *kept) : "";
  if (rows.empty()) return {};
  std::string const stem = metrics.stem().string() + ".older-step_" + std::to_string(last_step);
  std::filesystem::path const folder = metrics.parent_path();
  std::filesystem::path path = folder / (stem + metrics.extension().string());
  for (int i = 2; std::filesystem::exists(std::filesystem::symlink_status(path)); ++i) {
    if (std::filesystem::is_regular_file(path) && detail::lines_from(path, 0) == rows) return path;
    path = folder / (stem + "-" + std::to_string(i) + metrics.extension().string());
  }
  std::filesystem::path const unfinished = folder / ("." + stem + ".unfinished");
  disk.remove_all(unfinished);
  safetensors::output_file<Ops> file(disk.ops(), unfinished);
  file.write(rows);
  file.finish();
  disk.rename(unfinished, path);
  disk.sync_directory(folder.empty() ? "." : folder);
  return path;
}

}  // namespace redco::workdir
