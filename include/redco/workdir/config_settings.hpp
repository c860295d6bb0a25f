#pragma once

#include <redco/diag/error.hpp>

#include <map>
#include <string>

namespace redco::workdir {

/// Converts a program's options (JSON text or empty) to settings by name, by which runs are
/// compared. Leaves out remarks, and the fields of `deployer_options`, which say where and how a
/// run is computed. Throws `error` with exit code 65 if the text is not JSON.
std::map<std::string, std::string> config_settings(std::string const& options);

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/config_settings.inl.hpp>
#endif
