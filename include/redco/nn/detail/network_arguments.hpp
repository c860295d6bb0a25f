#pragma once

#include <redco/nn/parameter_store.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/diag/error.hpp>

#include <cstddef>
#include <string>

namespace redco::nn::detail {

/// Returns the network's input `x` on the device of the parameters. Converts a floating-point `x`
/// to the network's compute dtype.
inline at::Tensor as_input(at::Tensor const& x, parameter_store const& store) {
  if (!x.defined()) return x;
  at::ScalarType const type = x.is_floating_point() ? tensors::scalar_type_of(store.compute()) : x.scalar_type();
  return x.scalar_type() == type && x.device() == store.device() ? x : x.to(store.device(), type);
}

/// Throws `error` with exit code 70 if a caller substitutes `given` parameter tensors in a network
/// that has `taken` parameters.
inline void check_substitutes(std::size_t given, std::size_t taken) {
  if (given == taken) return;
  throw error(exit_code::internal, "the network takes " + std::to_string(taken) + " parameters and is given " +
                                       std::to_string(given) + "; pass one for each of parameters()");
}

}  // namespace redco::nn::detail
