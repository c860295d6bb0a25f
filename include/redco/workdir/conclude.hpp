#pragma once

#include <redco/workdir/run_summary.hpp>

#include <redco/diag/exit_code.hpp>

#include <string>

namespace redco::workdir {

/// The program ends with `code`, for `reason` where it is another than the run's own. The command to resume is given where the
/// same command can go further: not behind a wrong option, and not where the same step would give the same number that is not
/// finite.
void conclude(run_summary& summary, exit_code code, std::string const& reason);

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/conclude.inl.hpp>
#endif
