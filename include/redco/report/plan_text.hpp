#pragma once

#include <redco/shard/plan.hpp>

#include <string>

namespace redco::report {

/// Returns a plan (the split of every parameter) as a text table. Each line has a parameter's name,
/// shape, shape on a rank, split dimension, and reason.
std::string plan_text(shard::dynamic_plan const& plan);

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/plan_text.inl.hpp>
#endif
