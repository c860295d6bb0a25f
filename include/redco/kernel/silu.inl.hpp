#pragma once

#include <redco/kernel/silu.hpp>

#include <redco/kernel/cpu/silu.hpp>
#include <redco/kernel/cuda/activation.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor silu(at::Tensor const& x) {
  return detail::dispatch(
      x, [&] { return cuda::silu(x); }, [&] { return cpu::silu(x); }, [&] { return at::silu(x); });
}

}  // namespace redco::kernel
