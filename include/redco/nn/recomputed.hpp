#pragma once

#include <redco/tensor/torch.hpp>

#include <functional>
#include <span>
#include <vector>

namespace redco {

/// Returns run(inputs) and saves only the inputs and `parameters`; backward runs the block again
/// (Chen et al. 2016). `parameters` are the leaves that the block reads. Everything that `run`
/// refers to must live as long as the graph.
at::Tensor recomputed(std::function<at::Tensor(std::span<at::Tensor const>)> run, std::vector<at::Tensor> inputs,
                      std::span<at::Tensor const> parameters);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/nn/recomputed.inl.hpp>
#endif
