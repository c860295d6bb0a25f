#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/random/stream.hpp>

#include <cstdint>

namespace redco::kernel {

/// Zeroes each value of x with probability p and scales the others by 1 / (1 - p). x is [rows, positions..., features];
/// the value at (r, position, f) is dropped by the random word at feature `feature0 + f`, position `position0 +
/// position` (the middle dimensions flattened) and row `row0 + r` of `numbers`, so that any shard of rows, positions or
/// features drops what the unsharded tensor would. p counts in steps of 2^-32; p = 0 returns x.
///
/// Requires 0 <= p < 1, two dimensions or more, and f32, bf16 or f64 (else an error, exit 70).
/// Differentiable at any order. Autograd saves nothing: backward draws the mask again. Costs under a nanosecond a value
/// in f32.
at::Tensor dropout(at::Tensor const& x, double p, random::stream numbers, std::int64_t row0, std::int64_t feature0,
                   std::int64_t position0 = 0);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/dropout.inl.hpp>
#endif
