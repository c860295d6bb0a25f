#pragma once

#include <redco/comm/detail/step_function.hpp>
#include <redco/comm/group.hpp>

#include <redco/shape/layout.hpp>

#include <redco/tensor/tensor.hpp>

#include <cstdint>

namespace redco {

// The conversions between layouts. Each is a call that all ranks of the group make; its gradient is the conversion in
// the opposite sense, so derivatives of any order are right. Without a gradient to follow no autograd node is made; a
// group of one returns its argument. The group must outlive the graph. Errors are those of `group`.

/// Takes a replicated value into column-parallel layers. The value stays; its gradient, a pending sum, is all-reduced.
inline tensor<entered> enter(tensor<replicated> const& x, group& ranks) {
  return tensor<entered>(detail::take_step<detail::identity_step>(x.local(), ranks, 0));
}

/// Sums a pending value over the ranks, then adds its addends once. The gradient stays as it is.
inline tensor<replicated> reduce(tensor<partial> const& x, group& ranks) {
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

/// Joins the ranks' parts; the gradient is this rank's part of the whole gradient.
template <int Dim>
tensor<replicated> gather(tensor<split<Dim>> const& x, group& ranks) {
  return detail::take_step<detail::gather_step>(x.local(), ranks, Dim);
}

/// Keeps this rank's part along `Dim`, whose extent must divide; the gradients of the parts are joined.
template <int Dim>
tensor<split<Dim>> scatter(tensor<replicated> const& x, group& ranks) {
  return tensor<split<Dim>>(detail::take_step<detail::slice_step>(x.local(), ranks, Dim));
}

/// Joins the ranks' parts on their way into column-parallel layers (sequence parallelism); the gradient, a pending
/// sum, is reduced and each rank keeps its part.
template <int Dim>
tensor<entered> all_gather_entered(tensor<split<Dim>> const& x, group& ranks) {
  return tensor<entered>(detail::take_step<detail::gather_entered_step>(x.local(), ranks, Dim));
}

/// Sums a pending value and keeps this rank's part along `Dim`, whose extent must divide; addends are added once. The
/// gradients of the parts are joined. An addend that is broadcast along `Dim` enters: every part's gradient is a part
/// of its.
template <int Dim>
tensor<split<Dim>> reduce_scatter(tensor<partial> const& x, group& ranks) {
  at::Tensor sum = detail::take_step<detail::reduce_scatter_step>(x.local(), ranks, Dim);
  std::int64_t const from_end = Dim < 0 ? -Dim : x.local().dim() - Dim;
  for (at::Tensor const& addend : x.addends()) {
    bool const whole = addend.dim() >= from_end && addend.size(addend.dim() - from_end) != 1;
    sum = sum + (whole ? detail::take_step<detail::slice_step>(addend, ranks, -from_end)
                       : detail::take_step<detail::identity_step>(addend, ranks, 0));
  }
  return tensor<split<Dim>>(sum);
}

}  // namespace redco
