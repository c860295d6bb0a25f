#pragma once

#include <redco/fact/program.hpp>

#include <string>

namespace redco::report {

/// A model's program to read: one line for each event under the name of its layer, equal blocks and branches indented.
/// `#n` is an activation, #0 the model's input; "| 6 of dim 2" says that a mesh cuts a tensor along that dimension, between
/// two of its 6 units.
std::string program_text(fact::program const& p);

}  // namespace redco::report

#ifndef REDCO_COMPILED
#include <redco/report/program_text.inl.hpp>
#endif
