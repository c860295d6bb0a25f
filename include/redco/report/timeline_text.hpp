#pragma once

#include <redco/cost/memory.hpp>
#include <redco/cost/simulation.hpp>

#include <string>

namespace redco::report {

/// Returns a table of the bytes of one rank over a training step: after each layer of forward, at
/// the loss, at each moment of backward, and at the update. Marks the largest total. `throughout`
/// contains the bytes that a rank holds during the whole step.
std::string timeline_text(cost::simulation const& of, cost::memory const& throughout);

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/timeline_text.inl.hpp>
#endif
