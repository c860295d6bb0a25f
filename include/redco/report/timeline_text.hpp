#pragma once

#include <redco/cost/memory.hpp>
#include <redco/cost/simulation.hpp>

#include <string>

namespace redco::report {

/// Memory over a step as a table: the bytes that one rank holds after each layer of forward, at the loss, at each moment of
/// backward and at the update; `throughout` is what it holds all the time. The largest total is marked.
std::string timeline_text(cost::simulation const& of, cost::memory const& throughout);

}  // namespace redco::report

#ifndef REDCO_COMPILED
#include <redco/report/timeline_text.inl.hpp>
#endif
