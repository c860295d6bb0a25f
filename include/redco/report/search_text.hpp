#pragma once

#include <redco/cost/search.hpp>

#include <cstddef>
#include <string>

namespace redco::report {

/// The best plans of a search as a table, at most `most` of them, the fastest first, and the sentence that says what to
/// run; or, where none fits, what the smallest holds.
std::string search_text(cost::search_result const& found, cost::search_space const& space, std::size_t most = 10);

}  // namespace redco::report

#ifndef REDCO_COMPILED
#include <redco/report/search_text.inl.hpp>
#endif
