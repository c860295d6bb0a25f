#pragma once

#include <redco/workdir/run_summary.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redco::report {

/// A set of facts about a run that its working directory does not hold. Empty members are left out
/// of the page.
struct run_facts {
  std::string title = {};      ///< title of the page; empty for the name of the working directory
  std::string mesh = {};       ///< mesh, such as "2x2"
  std::string computing = {};  ///< device and dtype, such as "cpu, bf16"
  std::string plan = {};       ///< the plan as text, such as that of plan_text()
  std::string resume = {};     ///< command that continues the run
  /// Peak bytes of one rank that the plan predicts.
  std::optional<std::int64_t> planned_bytes = {};
  /// Peak bytes of each rank that were measured, by rank.
  std::vector<std::int64_t> measured_bytes = {};
  /// Summary of the run; empty while it runs.
  std::optional<workdir::run_summary> summary = {};
};

/// Returns the report of a run as one HTML page: curves of metrics.jsonl, files of pictures/ (SVG,
/// PNG), samples of the newest outputs, memory, plan, config.json and warnings of log.txt. The page
/// needs no JavaScript and no other file, and suits phones, dark screens and print. Missing and
/// damaged files are left out. Curves keep extremes. At most 60 curves, 40 pictures and the last 4
/// MiB of log.txt are read.
std::string run_page(std::filesystem::path const& workdir, run_facts const& facts = {});

/// Writes the picture `svg` to <workdir>/pictures/<name>.svg, completely or not at all. Returns the
/// file's path. Throws `error` with exit code 64 if the name has other characters than letters,
/// digits, '-', '_' and '.', and 74 if the file cannot be written.
std::filesystem::path save_picture(std::filesystem::path const& workdir, std::string const& name,
                                   std::string const& svg);

/// Writes the report of a run to <workdir>/report.html, completely or not at all. Throws `error`
/// with exit code 74 if the file cannot be written.
void write_run_page(std::filesystem::path const& workdir, run_facts const& facts);

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/run_page.inl.hpp>
#endif
