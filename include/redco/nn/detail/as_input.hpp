#pragma once

#include <redco/nn/parameter_store.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::detail {

/// x on the device of the parameters; of any floating type, in the one that the network computes in.
inline at::Tensor as_input(at::Tensor const& x, parameter_store const& store) {
  if (!x.defined()) return x;
  return x.to(store.device(), x.is_floating_point() ? scalar_type_of(store.compute()) : x.scalar_type());
}

}  // namespace redco::detail
