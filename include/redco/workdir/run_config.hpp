#pragma once

#include <redco/options/chosen_dtype.hpp>
#include <redco/json/value_fwd.hpp>

#include <string>

namespace redco::workdir {

/// What a run writes to config.json: the options (JSON text, or none), with the dtype that it computes in, and beside it, as
/// a remark that `--config` passes over, why.
json::json_value run_config(std::string const& options, chosen_dtype const& chosen);

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/run_config.inl.hpp>
#endif
