#pragma once

#include <redco/options/fit_options.hpp>
#include <redco/log/run_log.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace redco::run {

/// Returns the optimizer flags, such as "--lr", that have no effect on a trainer with a rule of its
/// own: set flags whose values the rule does not have. A flag is set if `given` has its name. If
/// `by_value` is true, a flag whose value is not the default of `training_flags` is set, too.
/// `settings`: settings of the rule, from workdir::settings_of.
std::vector<std::string> unused_flags(training_flags const& flags, std::set<std::string> const& given, bool by_value,
                                      std::map<std::string, std::string> const& settings);

/// Logs a warning that names the flags of unused_flags(). Does nothing if there are none. `flags`:
/// flags that the program passes to the trainer; null if it passes none.
void warn_of_unused_flags(training_flags const* flags, std::map<std::string, std::string> const& settings,
                          log::run_log& log);

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/unused_flags.inl.hpp>
#endif
