#pragma once

#include <redco/nn/detail/entered_product.hpp>
#include <redco/comm/lane.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::detail {

/// x [B, own tokens, In] joined over the shards, times W^T, plus b: a run of examples is joined on the lane while the one before it is
/// multiplied. In backward the gradient of a run is summed while that of the next is made, and then those of the weights. The tokens
/// divide by the shards. Saves what is joined and W. Differentiable at any order.
entered_product joined_linear(tensor<token_split> const& x, at::Tensor const& weight, at::Tensor const& bias,
                              group& shards, comm::lane& lane);

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/nn/detail/joined_linear.inl.hpp>
#endif
