#pragma once

#include <redco/report/run_request.hpp>

#include <redco/fact/parameter_fact.hpp>

#include <string_view>
#include <vector>

namespace redco::report {

/// Throws `error` with exit code 64 if the mesh of a request cannot hold these parameters. Each
/// width that the message lists gives a legal mesh if it is written in place of the refused one:
/// with --ranks it divides the ranks. `hosts` is the word for what the ranks are divided among.
void check_mesh(std::vector<fact::parameter_fact> const& parameters, run_request const& asked,
                std::string_view hosts = "hosts");

}  // namespace redco::report

#ifndef REDCO_COMPILED
#include <redco/report/check_mesh.inl.hpp>
#endif
