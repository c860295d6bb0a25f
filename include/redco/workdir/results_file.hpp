#pragma once

#include <redco/json/value_fwd.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>

namespace redco::workdir {

/// Writes `results` as indented JSON to `file` (`eval_results_epoch0.json`, `min_metrics.json`)
/// completely or not at all. An earlier file of that name stays until the new one is on the disk.
/// Numbers that are not finite become null. Only one process may write a name at a time: rank 0.
///
/// Throws `error` with exit code 74, or 65 if a string is not UTF-8; then the earlier file is
/// unchanged.
void write_results(std::filesystem::path const& file, json::json_value const& results);

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/results_file.inl.hpp>
#endif
