#pragma once

#include <redco/kernel/cpu/self_gated.hpp>
#include <redco/kernel/cpu/sigmoid.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel::cpu {

struct silu_gate {
  template <int W>
  [[gnu::always_inline]] static void lanes_of(typename lanes<W>::real& s, typename lanes<W>::real& slope,
                                              typename lanes<W>::real const& x) {
    sigmoid_lanes<W>(s, slope, x);
  }
  static void exact(double& s, double& slope, double x) { sigmoid_exact(s, slope, x); }
  static at::Tensor reference(at::Tensor const& x) { return at::silu(x); }
};

inline at::Tensor silu(at::Tensor const& x) { return self_gated_function<silu_gate>::apply(x); }

}  // namespace redco::kernel::cpu
