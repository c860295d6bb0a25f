#pragma once

#include <redco/kernel/rms_norm.hpp>

#include <redco/kernel/cpu/norm.hpp>
#include <redco/config.hpp>

#include <optional>

namespace redco::kernel {

REDCO_INLINE at::Tensor rms_norm(at::Tensor const& x, at::Tensor const& weight, double epsilon) {
  detail::check_norm("rms_norm", x, weight, {});
  return detail::norm_function<false>::apply(x, detail::if_defined(weight), std::nullopt, epsilon);
}

}  // namespace redco::kernel
