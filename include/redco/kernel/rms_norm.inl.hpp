#pragma once

#include <redco/kernel/rms_norm.hpp>

#include <redco/kernel/composed/norm.hpp>
#include <redco/kernel/cpu/norm.hpp>
#include <redco/kernel/cuda/norm.hpp>
#include <redco/kernel/detail/check_norm.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor rms_norm(at::Tensor const& x, at::Tensor const& weight, double epsilon) {
  detail::check_norm("rms_norm", x, weight, {});
  return detail::dispatch(
      x, [&] { return cuda::norm<false>(x, weight, {}, epsilon); },
      [&] { return cpu::norm<false>(x, weight, {}, epsilon); },
      [&] { return composed::norm<false>(x, weight, {}, epsilon).y; });
}

}  // namespace redco::kernel
