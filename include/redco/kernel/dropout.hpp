#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/random/stream.hpp>

#include <cstdint>

namespace redco::kernel {

/// Zeroes each element of x with probability `p` and scales all other elements by 1 / (1 - p). x
/// has the shape [rows, positions..., features]; middle dimensions are flattened. Element (r, t, f)
/// uses the random word at the coordinates (row0 + r, position0 + t, feature0 + f). Shards
/// therefore zero the elements that one rank with the whole tensor would zero.
///
/// Differentiable to any order. Autograd saves nothing: backward draws the mask again. Takes below
/// 1 ns per f32 element. Throws `error` with exit code 70 unless 0 <= p < 1 and x is f32, bf16 or
/// f64.
at::Tensor dropout(at::Tensor const& x, double p, random::stream numbers, std::int64_t row0, std::int64_t feature0,
                   std::int64_t position0 = 0);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/dropout.inl.hpp>
#endif
