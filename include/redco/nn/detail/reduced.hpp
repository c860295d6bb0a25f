#pragma once

#include <redco/nn/pass.hpp>
#include <redco/nn/pending_sum.hpp>
#include <redco/tensor/tensor.hpp>

namespace redco::detail {

/// Returns the sum over the shards, with its addends. A product that is not computed yet is
/// computed in runs of rows; each run is summed on the pass's lane while the next is computed.
/// Differentiable at any order.
tensor<replicated> reduced(pending_sum const& x, pass const& in);

/// Returns this rank's tokens of the sum over the shards, with its addends. A product that is not
/// computed yet is computed in runs of examples. Backward gathers the gradients of one run while it
/// multiplies those of the run before it.
tensor<token_split> reduced_tokens(pending_sum const& x, pass const& in);

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/nn/detail/reduced.inl.hpp>
#endif
