#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::detail {

/// What has entered a column-parallel layer, and its product with the layer's weight.
struct entered_product {
  at::Tensor whole;  ///< in the graph where adapters read it
  at::Tensor product;
};

}  // namespace redco::detail
