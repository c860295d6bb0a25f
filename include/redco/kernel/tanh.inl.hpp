#pragma once

#include <redco/kernel/tanh.hpp>

#include <redco/kernel/cpu/tanh.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor tanh(at::Tensor const& x) {
  return detail::dispatch(
      x, [&] { return cpu::tanh(x); }, [&] { return at::tanh(x); });
}

}  // namespace redco::kernel
