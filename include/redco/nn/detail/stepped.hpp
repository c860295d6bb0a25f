#pragma once

#include <redco/tensor/torch.hpp>

#include <vector>

namespace redco::nn::detail {

/// Returns parameters after one step of gradient descent: p - rate * dloss/dp for each p that
/// requires gradients and affects `loss`. Autograd records the step. Returns other parameters
/// unchanged.
std::vector<at::Tensor> stepped(std::vector<at::Tensor> const& parameters, at::Tensor const& loss, double rate);

}  // namespace redco::nn::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/detail/stepped.inl.hpp>
#endif
