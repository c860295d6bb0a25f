#pragma once

#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/optimizer_description.hpp>
#include <redco/optimizer/schedule_of.hpp>

#include <redco/diag/error.hpp>

#include <cmath>
#include <optional>
#include <string>

namespace redco::optimizer {

/// Checks the learning rates and clip_norm of an optimizer before the first step. Throws `error`
/// with exit code 64 if one of them is negative or not finite.
template <class Description>
void check_rates(Description const& description) {
  auto const check = [](char const* name, double value) {
    if (!(value >= 0 && std::isfinite(value)))
      throw error(exit_code::usage,
                  std::string(name) + " is " + std::to_string(value) + ": give a finite number from 0 on");
  };
  check("clip_norm", clip_norm(description));
  if (std::optional<learning_rate> const lr = schedule_of(description))
    for (double const rate : {lr->peak, lr->start, lr->floor}) check("the learning rate", rate);
}

}  // namespace redco::optimizer
