#pragma once

#include <redco/workdir/run_summary.hpp>

#include <redco/diag/exit_code.hpp>

#include <string>

namespace redco::workdir {

/// Sets the exit code of a program in its summary. Also sets the reason, unless the fit has ended
/// with the same code. Adds the command that resumes the run, if repeating it can succeed: not for
/// code 64 (wrong options), nor for 79 (the same step would not be finite again).
void conclude(run_summary& summary, exit_code code, std::string const& reason);

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/conclude.inl.hpp>
#endif
