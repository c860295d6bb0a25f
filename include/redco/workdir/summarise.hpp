#pragma once

#include <redco/workdir/failure_history.hpp>
#include <redco/workdir/fit_record.hpp>
#include <redco/workdir/run_summary.hpp>

#include <filesystem>

namespace redco::workdir {

/// Takes what a fit tells of itself into the summary, whose code and reason say how it ended, with the files of the workdir
/// that are there, and takes its failure in a step into those of the runs there; a run that is done clears them.
void summarise(run_summary& summary, fit_record const& fit, std::filesystem::path const& workdir,
               failure_history const& failures);

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/summarise.inl.hpp>
#endif
