#pragma once

#include <redco/json/value_fwd.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>

namespace redco::workdir {

/// Writes `results` as indented JSON to `file` (`eval_results_epoch0.json`, `min_metrics.json`): whole or not at all,
/// and an earlier file of that name stays until the new one is on the disk. Numbers that are not finite become null.
/// For one writer per name at a time: rank 0.
///
/// Errors: exit_code::io, exit_code::data where a string is not UTF-8; the earlier file is then unharmed.
void write_results(std::filesystem::path const& file, json::json_value const& results);

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/results_file.inl.hpp>
#endif
