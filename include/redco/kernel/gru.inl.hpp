#pragma once

#include <redco/kernel/gru.hpp>

#include <redco/kernel/composed/gru.hpp>
#include <redco/kernel/cpu/gru.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor gru(at::Tensor const& projected, at::Tensor const& weight, at::Tensor const& bias) {
  return detail::dispatch(
      projected, [&] { return cpu::gru(projected, weight, bias); },
      [&] { return composed::gru(projected, weight, bias); });
}

}  // namespace redco::kernel
