#pragma once

#include <redco/shard/plan.hpp>

#include <string>

namespace redco::report {

/// A table with a line for each parameter: its shape, a rank's part of it, the dimension that is split, and why.
std::string plan_text(dynamic_plan const& plan);

}  // namespace redco::report

#ifndef REDCO_COMPILED
#include <redco/report/plan_text.inl.hpp>
#endif
