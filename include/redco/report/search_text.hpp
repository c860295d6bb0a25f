#pragma once

#include <redco/cost/search.hpp>

#include <cstddef>
#include <string>

namespace redco::report {

/// Returns the result of a search for the fastest plan: a table of at most `most` plans, the
/// fastest first, and the options to run the best one. If no plan fits the memory, returns the plan
/// with the smallest peak.
std::string search_text(cost::search_result const& found, cost::search_space const& space, std::size_t most = 10);

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/search_text.inl.hpp>
#endif
