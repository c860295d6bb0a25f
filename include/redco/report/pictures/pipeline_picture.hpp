#pragma once

#include <redco/schedule/pipeline_table.hpp>
#include <redco/schedule/pipeline_time.hpp>

#include <string>

namespace redco::report {

/// Returns an SVG picture of a step of a pipeline: one row per stage, one box per computation, from
/// `run`, the result of simulate(table). Boxes have the number of the micro-batch where it fits.
/// Input and weight gradients have shades of their own. `title` may be any bytes.
///
///   auto const table = schedule::table_of({schedule::pipeline_kind::one_f_one_b, 4, 8});
///   report::pipeline_picture(table, schedule::simulate(table), "1f1b");
std::string pipeline_picture(schedule::pipeline_table const& table, schedule::pipeline_run const& run,
                             std::string const& title);

/// Returns a step of a pipeline as text for the console, after `title`. Each stage of `table` has
/// one line of at most 24 computations in order, then dots. The last line has the idle share,
/// makespan and chunks in flight of `run`.
std::string pipeline_text(schedule::pipeline_table const& table, schedule::pipeline_run const& run,
                          std::string const& title);

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/pictures/pipeline_picture.inl.hpp>
#endif
