#pragma once

#include <redco/kernel/relu.hpp>

#include <redco/kernel/cpu/small_relu.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor relu(at::Tensor const& x) {
  auto const many = [&] { return at::relu(x); };
  return detail::dispatch(
      x, [&] { return cpu::is_small_relu(x) ? cpu::small_relu(x) : many(); }, many);
}

}  // namespace redco::kernel
