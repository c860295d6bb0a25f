#pragma once

#include <redco/options/fit_settings.hpp>

namespace redco::options {

/// Checks the settings of a fit over `replicas` data-parallel replicas before any work. Throws
/// `error` with exit code 64 for invalid settings and 65 if there are no examples.
void check_fit(options::fit_settings const& settings, int replicas);

}  // namespace redco::options

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/check_fit.inl.hpp>
#endif
