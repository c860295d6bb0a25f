#pragma once

#include <redco/kernel/lstm.hpp>

#include <redco/kernel/composed/lstm.hpp>
#include <redco/kernel/cpu/lstm.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor lstm(at::Tensor const& projected, at::Tensor const& weight) {
  return detail::dispatch(
      projected, [&] { return cpu::lstm(projected, weight); }, [&] { return composed::lstm(projected, weight).first; });
}

}  // namespace redco::kernel
