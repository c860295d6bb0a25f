#pragma once

#include <redco/json/value_fwd.hpp>

namespace redco {

struct shard_report;

/// The report as JSON: {"schema": "redco.shard_report", "version": 1, "run", "plan", "bytes", "activations", "phases", "moments",
/// "peak_bytes", "budget_bytes" (null where none was asked for), "operations", "messages", "graph"}. Bytes are of one
/// rank, operations of a replica; a node's inputs are places in "graph", its parameters places in "plan", from zero. "run" has
/// a "source" only where an encoder's input has a length of its own, and "hosts" only where there are several: then messages have "hosts",
/// the most that one of their groups lies on, "inside_bytes" of a rank and "host_bytes" of the busiest host; "bytes" is null for a
/// layer that is not counted. A change that breaks readers raises the version.
json::json_value report_json(shard_report const& r);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/report/report_json.inl.hpp>
#endif
