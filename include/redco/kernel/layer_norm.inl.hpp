#pragma once

#include <redco/kernel/layer_norm.hpp>

#include <redco/kernel/cpu/norm.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor layer_norm(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                                   double epsilon) {
  detail::check_norm("layer_norm", x, weight, bias);
  return detail::norm_function<true>::apply(x, detail::if_defined(weight), detail::if_defined(bias), epsilon);
}

}  // namespace redco::kernel
