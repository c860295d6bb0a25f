#pragma once

#include <redco/shard/plan.hpp>

#include <string>

namespace redco::report {

/// Returns a table with one line per parameter: shape, shape on a rank, split dimension, and
/// reason.
std::string plan_text(dynamic_plan const& plan);

}  // namespace redco::report

#ifndef REDCO_COMPILED
#include <redco/report/plan_text.inl.hpp>
#endif
