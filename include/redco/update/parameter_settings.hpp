#pragma once

#include <redco/update/any_optimizer.hpp>
#include <redco/shard/plan.hpp>

#include <optional>
#include <vector>

namespace redco::update {

/// Settings of one parameter in an update. Groups of parameters and a layer decay change them.
struct parameter_settings {
  double rate = 1;                          ///< Factor of the learning rate
  std::optional<double> weight_decay = {};  ///< Weight decay that replaces the optimizer's
  bool whole = false;                       ///< True for a parameter that is updated as a whole
  bool factored = false;                    ///< True for a matrix with state per row and column

  friend bool operator==(parameter_settings const&, parameter_settings const&) = default;
};

/// Returns the settings of each parameter in `placed`, which lists all parameters of a model in the
/// order of forward. Throws `error` with exit code 64 if the pattern of a group matches no
/// parameter, or if a factor or weight decay is negative or not finite. Throws it also if the
/// optimizer updates whole matrices and there is no hidden matrix.
std::vector<parameter_settings> settings_of(any_optimizer const& optimizer,
                                            std::vector<shard::placed_parameter> const& placed);

}  // namespace redco::update

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/update/parameter_settings.inl.hpp>
#endif
