#pragma once

#include <redco/diag/error.hpp>
#include <redco/schedule/pipeline_table.hpp>
#include <redco/schedule/pipeline_time.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace redco::schedule {

/// Returns the table of a pipeline from a text in the format of PyTorch's schedule files. Each line
/// has the computations of a stage in order of execution, separated by commas. "2F0" is chunk 2,
/// forward, micro-batch 0. Empty cells mean idle time and are ignored. `source` is the name of the
/// file in error messages.
///
/// Throws `error` with exit code 65, which names the line, for an unknown computation, a chunk on
/// two lines, or a table in which simulate() finds a fault. The message about a communication such
/// as "2SEND_F0" asks to remove it, because redco adds sends and receives.
pipeline_table read_pipeline(std::string_view text, std::string const& source);

/// Returns the table of a pipeline from the schedule file `path`, in the format of read_pipeline().
/// Throws `error` with exit code 65 as read_pipeline() does, or if the file cannot be read.
pipeline_table read_pipeline_file(std::filesystem::path const& path);

/// Returns a sentence that describes a fault in the table of a pipeline, for error messages.
std::string text_of(pipeline_fault const& fault, pipeline_table const& table);

/// Returns a table in the format that read_pipeline() reads.
std::string text_of(pipeline_table const& table);

}  // namespace redco::schedule

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/schedule/pipeline_text.inl.hpp>
#endif
