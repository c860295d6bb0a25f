#pragma once

#include <redco/workdir/manifest.hpp>

#include <redco/diag/error.hpp>

#include <map>
#include <string>
#include <utility>

namespace redco::workdir {

/// A map of the metrics' best values by checkpoint name, such as "min_loss" or "max_accuracy".
class best_values : public std::map<std::string, manifest::best_value> {
 public:
  best_values() = default;
  best_values(std::map<std::string, manifest::best_value> known) : map(std::move(known)) {}

  /// Returns the best value with this name, such as "max_accuracy". The metric's name ("accuracy")
  /// suffices if not both its minimum and its maximum are kept. Throws `error` with exit code 70
  /// and the known names if there is no such value.
  manifest::best_value const& at(std::string const& name) const;
};

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/best_values.inl.hpp>
#endif
