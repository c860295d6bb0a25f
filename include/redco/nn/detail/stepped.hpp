#pragma once

#include <redco/tensor/torch.hpp>

#include <vector>

namespace redco::detail {

/// Returns p - rate dloss/dp for each of `parameters` that requires gradients and affects `loss`,
/// recorded by autograd. Other parameters are returned unchanged.
std::vector<at::Tensor> stepped(std::vector<at::Tensor> const& parameters, at::Tensor const& loss, double rate);

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/nn/detail/stepped.inl.hpp>
#endif
