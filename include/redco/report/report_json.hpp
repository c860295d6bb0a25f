#pragma once

#include <redco/json/value_fwd.hpp>

namespace redco::report {

struct shard_report;

/// Returns the report as JSON. Bytes are per rank, operations per replica. A graph node's inputs
/// are indices in "graph" and its parameters indices in "plan", from 0. "budget_bytes" is null
/// without a budget; a layer's "bytes" is null if the layer is not counted. "run" has "source" only
/// if the encoder's input has its own length. For several hosts, "run" also has "hosts", and
/// messages have "hosts", "inside_bytes" (per rank) and "host_bytes" (of the busiest host).
/// Incompatible changes increase "version".
json::json_value report_json(shard_report const& r);

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/report_json.inl.hpp>
#endif
