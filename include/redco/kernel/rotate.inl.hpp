#pragma once

#include <redco/kernel/rotate.hpp>

#include <redco/kernel/composed/rotate.hpp>
#include <redco/kernel/cpu/rotate.hpp>
#include <redco/kernel/cuda/rotate.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor rotate(at::Tensor const& x, rotation const& by, at::Tensor const& positions) {
  if (by.angles.dims == 0) return x;
  TORCH_INTERNAL_ASSERT(x.is_floating_point() && x.dim() == 3 && x.stride(2) == 1);
  return detail::dispatch(
      x, [&] { return cuda::rotate(x, by, positions); }, [&] { return cpu::rotate(x, by, positions); },
      [&] { return composed::rotate(x, by, positions); });
}

}  // namespace redco::kernel
