#pragma once

#include <redco/json/value_fwd.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>

namespace redco::workdir {

/// Writes `results` as indented JSON to `file`, such as `min_metrics.json`, completely or not at
/// all. An earlier file of this name stays until the new file is on the disk. Numbers that are not
/// finite become null. Only one process (that of rank 0) may write the file.
///
/// Throws `error` with exit code 74 if the disk fails, or 65 if a string is not UTF-8. The earlier
/// file is then unchanged.
void write_results(std::filesystem::path const& file, json::json_value const& results);

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/results_file.inl.hpp>
#endif
