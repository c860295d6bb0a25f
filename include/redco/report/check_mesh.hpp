#pragma once

#include <redco/report/run_request.hpp>

#include <redco/fact/parameter_fact.hpp>

#include <string_view>
#include <vector>

namespace redco::report {

/// Throws `error` with exit code 64 if the mesh of a request cannot hold these parameters. The
/// message lists widths that make the mesh legal when written instead; with --ranks they divide the
/// number of ranks. `hosts` is the word for hosts in the message.
void check_mesh(std::vector<fact::parameter_fact> const& parameters, run_request const& asked,
                std::string_view hosts = "hosts");

}  // namespace redco::report

#ifndef REDCO_COMPILED
#include <redco/report/check_mesh.inl.hpp>
#endif
