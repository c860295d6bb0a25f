#pragma once

#include <redco/kernel/lstm.hpp>

#include <redco/kernel/composed/lstm.hpp>
#include <redco/kernel/cpu/computes.hpp>
#include <redco/kernel/cpu/lstm.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor lstm(at::Tensor const& projected, at::Tensor const& weight) {
  return cpu::computes(projected) ? cpu::lstm(projected, weight) : composed::lstm(projected, weight).first;
}

}  // namespace redco::kernel
