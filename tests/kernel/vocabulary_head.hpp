#pragma once

// Random heads of a language model, split by vocabulary, for the tests of losses.

#include <redco/kernel/vocabulary_shard.hpp>
#include <redco/tensor/torch.hpp>

#include <ATen/CPUGeneratorImpl.h>

#include <cstdint>

/// Returns normal random numbers, equal for equal seeds and rounded to `type`.
inline at::Tensor head_random(at::IntArrayRef sizes, at::ScalarType type, std::uint64_t seed) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  return at::randn(sizes, generator, at::kDouble).to(type);
}

/// Returns the rows of rank `rank` of the padded head. The padding holds large numbers that must
/// have no effect.
inline redco::kernel::vocabulary_shard head_shard(at::Tensor const& weight, at::Tensor const& bias, int rank,
                                                  int ranks) {
  auto const vocabulary = weight.size(0), rows = (vocabulary + ranks - 1) / ranks, padding = rows * ranks - vocabulary;
  auto const part = [&](at::Tensor const& x) {
    auto sizes = x.sizes().vec();
    sizes[0] = padding;
    return at::cat({x, at::full(sizes, 50.0, x.options())}).narrow(0, rank * rows, rows).clone().requires_grad_();
  };
  return {part(weight), bias.defined() ? part(bias) : at::Tensor(), vocabulary, rank * rows};
}

/// Returns the largest absolute difference of two tensors, computed in f64.
inline double head_difference(at::Tensor const& a, at::Tensor const& b) {
  return (a.detach().to(at::kDouble) - b.detach().to(at::kDouble)).abs().max().item<double>();
}
