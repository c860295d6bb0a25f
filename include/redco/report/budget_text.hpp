#pragma once

#include <redco/report/shard_report.hpp>
#include <redco/report/smallest_change.hpp>

#include <optional>
#include <string>

namespace redco::report {

/// Whether a report's run fits its budget: one sentence, or where it does not, what is largest and what would help.
std::string budget_text(shard_report const& r, std::optional<fitting_change> const& change);

}  // namespace redco::report

#ifndef REDCO_COMPILED
#include <redco/report/budget_text.inl.hpp>
#endif
