#pragma once

#include <redco/nn/pass.hpp>
#include <redco/nn/pending_sum.hpp>
#include <redco/tensor/tensor.hpp>

namespace redco::nn::detail {

/// Returns the pending sum `x` summed over the shards, plus its addends such as biases. If the
/// product in `x` is not computed yet, computes it in chunks of rows and sums each chunk on the
/// pass's lane (communication thread) while it computes the next. Differentiable to any order.
tensor<shape::replicated> reduced(pending_sum const& x, pass const& in);

/// Returns this rank's tokens of the pending sum `x` summed over the shards, plus its addends such
/// as biases. If the product in `x` is not computed yet, computes it in chunks of examples.
/// Backward gathers the gradients of one chunk while it multiplies the gradients of the chunk
/// before.
tensor<shape::token_split> reduced_tokens(pending_sum const& x, pass const& in);

}  // namespace redco::nn::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/detail/reduced.inl.hpp>
#endif
