#pragma once

#include <redco/options/chosen_dtype.hpp>
#include <redco/json/value_fwd.hpp>

#include <string>

namespace redco::workdir {

/// Returns the content of config.json: the options (JSON text or empty) with the dtype in which the
/// run computes. The reason for that dtype is added as a remark, which `--config` ignores.
json::json_value run_config(std::string const& options, chosen_dtype const& chosen);

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/run_config.inl.hpp>
#endif
