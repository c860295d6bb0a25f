#pragma once

#include <redco/options/fit_settings.hpp>

namespace redco {

/// What is wrong with a fit divided over `replicas` before any work. Errors: exit code 64, and 65 where there is no example.
void check_fit(options::fit_settings const& settings, int replicas);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/options/check_fit.inl.hpp>
#endif
