#pragma once

#include <redco/fact/program.hpp>

#include <string>

namespace redco::report {

/// Returns a model's program (the list of facts that its layers state) as text: one line per event
/// under the name of its layer, with blocks and branches indented. `#n` is an activation and #0 the
/// model's input. "| 6 of dim 2" means that a mesh may cut dimension 2, which has 6 indivisible
/// units.
std::string program_text(fact::program const& p);

}  // namespace redco::report

#ifndef REDCO_COMPILED
#include <redco/report/program_text.inl.hpp>
#endif
