#pragma once

#include <redco/nn/pass.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/random/stream.hpp>

#include <cstdint>

namespace redco::nn::detail {

/// Returns `x` after dropout with probability `p`, keyed by the positions of its tokens in whole
/// sequences. `x` is [rows, tokens..., features]. Feature 0 is feature `feature0` of the whole
/// tensor. Token 0 is token `begin` of the rank's part of each sequence. The part is the whole
/// sequence unless the call divides sequences.
at::Tensor dropped(at::Tensor const& x, double p, random::stream numbers, pass const& in, std::int64_t feature0,
                   std::int64_t begin);

}  // namespace redco::nn::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/keyed_dropout.inl.hpp>
#endif
