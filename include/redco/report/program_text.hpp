#pragma once

#include <redco/fact/program.hpp>

#include <string>

namespace redco::report {

/// Returns a model's program (the statements of its layers in execution order) as text. Each event
/// has one line under the name of its layer; blocks and branches are indented. `#n` is an
/// activation, and #0 is the model's input. "| 6 of dim 2" means that a mesh may cut dimension 2,
/// which has 6 indivisible units.
std::string program_text(fact::program const& p);

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/program_text.inl.hpp>
#endif
