#pragma once

#include <redco/options/chosen_dtype.hpp>
#include <redco/json/value_fwd.hpp>
#include <redco/diag/error.hpp>

#include <map>
#include <string>

namespace redco::workdir {

/// Returns the content of config.json: the program's options (JSON text or empty) and the dtype in
/// which the run computes. The reason for the dtype is added as a remark, which the option --config
/// ignores.
json::json_value run_config(std::string const& options, options::chosen_dtype const& chosen);

/// Converts a program's options (JSON text or empty) to settings by name, by which runs are
/// compared. Leaves out remarks, and the fields of `deployer_options`, which say where and how a
/// run is computed. Throws `error` with exit code 65 if the text is not JSON.
std::map<std::string, std::string> config_settings(std::string const& options);

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/run_config.inl.hpp>
#endif
