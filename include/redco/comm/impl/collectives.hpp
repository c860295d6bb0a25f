#pragma once

#include <redco/comm/collectives.hpp>

#include <redco/comm/detail/step_function.hpp>
#include <redco/config.hpp>

namespace redco {

namespace detail {

REDCO_INLINE at::Tensor gather_parts(at::Tensor const& x, group& ranks, std::int64_t dim) {
  return take_step<gather_step>(x, ranks, dim);
}

REDCO_INLINE at::Tensor scatter_part(at::Tensor const& x, group& ranks, std::int64_t dim) {
  return take_step<slice_step>(x, ranks, dim);
}

REDCO_INLINE at::Tensor gather_entered(at::Tensor const& x, group& ranks, std::int64_t dim) {
  return take_step<gather_entered_step>(x, ranks, dim);
}

REDCO_INLINE at::Tensor reduce_to_part(tensor<partial> const& x, group& ranks, std::int64_t dim) {
  at::Tensor sum = take_step<reduce_scatter_step>(x.local(), ranks, dim);
  std::int64_t const from_end = dim < 0 ? -dim : x.local().dim() - dim;
  for (at::Tensor const& addend : x.addends()) {
    bool const whole = addend.dim() >= from_end && addend.size(addend.dim() - from_end) != 1;
    sum = sum + (whole ? take_step<slice_step>(addend, ranks, -from_end) : take_step<identity_step>(addend, ranks, 0));
  }
  return sum;
}

}  // namespace detail

REDCO_INLINE tensor<entered> enter(tensor<replicated> const& x, group& ranks) {
  return tensor<entered>(detail::take_step<detail::identity_step>(x.local(), ranks, 0));
}

REDCO_INLINE tensor<replicated> reduce(tensor<partial> const& x, group& ranks) {
  at::Tensor sum = detail::take_step<detail::all_reduce_step>(x.local(), ranks, 0);
  bool const fresh = ranks.size() > 1;  // a group of one gave the argument back
  for (at::Tensor const& addend : x.addends()) {
    if (fresh && at::infer_size(sum.sizes(), addend.sizes()) == sum.sizes() && addend.scalar_type() == sum.scalar_type()) {
      sum.add_(addend);
    } else {
      sum = sum + addend;
    }
  }
  return sum;
}

}  // namespace redco
