#pragma once

#include <redco/tensor/torch.hpp>

#include <functional>
#include <span>
#include <vector>

namespace redco::nn {

/// Returns run(inputs), the result of a block. Saves only `inputs` and `parameters` (the leaves
/// that the block reads); backward runs the block again (activation checkpointing, Chen et al.
/// 2016). Everything that `run` refers to must live as long as the autograd graph.
at::Tensor recomputed(std::function<at::Tensor(std::span<at::Tensor const>)> run, std::vector<at::Tensor> inputs,
                      std::span<at::Tensor const> parameters);

}  // namespace redco::nn

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/recomputed.inl.hpp>
#endif
