#pragma once

#include <redco/workdir/run_summary.hpp>

#include <redco/diag/exit_code.hpp>

#include <string>

namespace redco::workdir {

/// Sets the exit code of a summary, and its reason if `code` differs from the run's own code. Adds
/// the command to resume if repeating the command can make progress. Exit codes 64 (wrong options)
/// and 79 (the same step would not be finite again) get no such command.
void conclude(run_summary& summary, exit_code code, std::string const& reason);

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/conclude.inl.hpp>
#endif
