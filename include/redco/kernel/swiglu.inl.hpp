#pragma once

#include <redco/kernel/swiglu.hpp>

#include <redco/kernel/composed/swiglu.hpp>
#include <redco/kernel/cpu/swiglu.hpp>
#include <redco/kernel/cuda/swiglu.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor swiglu(at::Tensor const& both) {
  if (both.dim() == 0 || both.size(-1) % 2 != 0)
    throw error(exit_code::internal,
                "swiglu: gate and up must be the halves of the last dimension: give one of even size");
  return detail::dispatch(
      both, [&] { return cuda::swiglu(both); }, [&] { return cpu::swiglu(both); },
      [&] { return composed::swiglu(both); });
}

}  // namespace redco::kernel
