#pragma once

#include <redco/workdir/failure_history.hpp>
#include <redco/workdir/fit_record.hpp>
#include <redco/workdir/run_summary.hpp>

#include <filesystem>

namespace redco::workdir {

/// Copies a fit's record and the existing files of the working directory into `summary`, whose code
/// and reason are already set. If the fit failed in a step, adds the failure to `failures`. A
/// successful run clears `failures`.
void summarise(run_summary& summary, fit_record const& fit, std::filesystem::path const& workdir,
               failure_history const& failures);

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/summarise.inl.hpp>
#endif
