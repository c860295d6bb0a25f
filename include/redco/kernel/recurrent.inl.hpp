#pragma once

#include <redco/kernel/recurrent.hpp>

#include <redco/kernel/composed/recurrent.hpp>
#include <redco/kernel/cpu/recurrent.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor gru(at::Tensor const& projected, at::Tensor const& weight, at::Tensor const& bias) {
  return detail::dispatch(
      projected, [&] { return cpu::gru(projected, weight, bias); },
      [&] { return composed::gru(projected, weight, bias); });
}

REDCO_INLINE at::Tensor lstm(at::Tensor const& projected, at::Tensor const& weight) {
  return detail::dispatch(
      projected, [&] { return cpu::lstm(projected, weight); }, [&] { return composed::lstm(projected, weight).first; });
}

}  // namespace redco::kernel
