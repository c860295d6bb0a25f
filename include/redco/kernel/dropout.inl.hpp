#pragma once

#include <redco/kernel/dropout.hpp>

#include <redco/kernel/composed/dropout.hpp>
#include <redco/kernel/cpu/dropout.hpp>
#include <redco/kernel/cuda/dropout.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <string>

namespace redco::kernel {

REDCO_INLINE at::Tensor dropout(at::Tensor const& x, double p, random::stream numbers, std::int64_t row0,
                                std::int64_t feature0, std::int64_t position0) {
  if (!(0 <= p && p < 1))
    throw error(exit_code::internal, "dropout: the probability is " + std::to_string(p) + ": give one in [0, 1)");
  if (x.dim() < 2)
    throw error(exit_code::internal, "dropout: a mask is keyed by row and feature: give x two dimensions or more");
  if (x.scalar_type() != at::kFloat && x.scalar_type() != at::kBFloat16 && x.scalar_type() != at::kDouble)
    throw error(exit_code::internal, "dropout: keyed masks exist for f32, bf16 and f64: convert x first");
  if (p == 0) return x;
  composed::dropout_key const key{p, numbers, row0, feature0, position0};
  return detail::dispatch(
      x, [&] { return cuda::dropout(x, key); }, [&] { return cpu::dropout(x, key); },
      [&] { return composed::dropout(x, key); });
}

}  // namespace redco::kernel
