#pragma once

#include <redco/workdir/failure_history.hpp>
#include <redco/workdir/fit_record.hpp>
#include <redco/workdir/run_summary.hpp>

#include <filesystem>

namespace redco::workdir {

/// Fills `summary` with the record of a fit and the existing files of the workdir. The members
/// `code` and `reason` of the summary must be set already. If the fit failed in a step, adds the
/// failure to `failures`; after a successful run, empties `failures`.
void summarise(run_summary& summary, fit_record const& fit, std::filesystem::path const& workdir,
               failure_history const& failures);

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/summarise.inl.hpp>
#endif
