#pragma once

#include <redco/workdir/manifest.hpp>

#include <redco/diag/error.hpp>

#include <map>
#include <string>
#include <utility>

namespace redco::workdir {

/// A map of the best values of watched metrics by the names of their checkpoints: "min_loss",
/// "max_accuracy".
class best_values : public std::map<std::string, manifest::best_value> {
 public:
  best_values() = default;
  best_values(std::map<std::string, manifest::best_value> known) : map(std::move(known)) {}

  /// Returns the best value with this name. `name` is the name of a checkpoint, or of a metric with
  /// only one of min and max watched ("accuracy"). Throws `error` with exit code 70 that lists the
  /// known names if there is none.
  manifest::best_value const& at(std::string const& name) const;
};

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/best_values.inl.hpp>
#endif
