#pragma once

#include <redco/nn/pass.hpp>
#include <redco/tensor/tensor.hpp>

namespace redco::detail {

/// The sum over the shards, with its addends. A product that nobody has made is made in runs of rows, each summed on the pass' lane
/// while the next is made. Differentiable at any order.
tensor<replicated> reduced(tensor<partial> const& x, pass const& in);

/// The same where each rank gets its tokens: runs of examples; in backward the gradients of a run are joined while those of the run
/// before it are multiplied.
tensor<token_split> reduced_tokens(tensor<partial> const& x, pass const& in);

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/nn/detail/reduced.inl.hpp>
#endif
