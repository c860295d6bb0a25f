#pragma once

#include <redco/kernel/silu.hpp>

#include <redco/kernel/cpu/self_gated.hpp>
#include <redco/kernel/cpu/sigmoid.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

namespace detail {

struct silu_gate {
  template <int W>
  [[gnu::always_inline]] static void lanes_of(typename lanes<W>::real& s, typename lanes<W>::real& slope,
                                              typename lanes<W>::real const& x) {
    sigmoid_lanes<W>(s, slope, x);
  }
  static void exact(double& s, double& slope, double x) { sigmoid_exact(s, slope, x); }
  static at::Tensor gradient(at::Tensor const& g, at::Tensor const& x) { return g * silu_slope(x); }
};

}  // namespace detail

REDCO_INLINE at::Tensor silu(at::Tensor const& x) {
  return detail::computes(x) ? detail::self_gated_function<detail::silu_gate>::apply(x) : at::silu(x);
}

}  // namespace redco::kernel
