#pragma once

#include <redco/report/run_request.hpp>

#include <redco/fact/parameter_fact.hpp>

#include <string_view>
#include <vector>

namespace redco::report {

/// Throws `error` with exit code 64 if the requested mesh cannot hold a model with these
/// parameters. The message lists the widths of the mesh axis that would be legal; if --ranks is
/// given, only widths that divide the number of ranks. `hosts` is the word for hosts in the
/// message.
void check_mesh(std::vector<fact::parameter_fact> const& parameters, run_request const& asked,
                std::string_view hosts = "hosts");

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/check_mesh.inl.hpp>
#endif
