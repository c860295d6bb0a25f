#pragma once

#include <redco/diag/error.hpp>

#include <map>
#include <string>

namespace redco::workdir {

/// The options of a program, JSON text or none, as settings by name. Left out: those of
/// `deployer_options`, which say where and how a run is computed, and remarks. Errors: exit code 65
/// for a text that is not JSON.
std::map<std::string, std::string> config_settings(std::string const& options);

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/config_settings.inl.hpp>
#endif
