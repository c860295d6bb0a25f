#pragma once

#include <redco/update/segment.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::update::detail {

/// Returns the values of the parameters in segment `s` that evaluations use instead of the trained
/// ones: an average. They are undefined if the optimizer keeps none.
template <class Description>
at::Tensor evaluated(Description const& d, segment const& s) {
  at::NoGradGuard const no_grad;
  if constexpr (requires { bool(d.evaluates_average); }) return d.evaluates_average ? s.slots.back() : at::Tensor();
  else if constexpr (requires { d.evaluated_at(0.5, 0.5); }) return d.evaluated_at(s.param, s.slots[0]);
  else return {};
}

}  // namespace redco::update::detail
