#pragma once

#include <redco/tensor/saved_watch.hpp>
#include <redco/tensor/torch.hpp>

#include <string_view>

namespace redco {

/// `x`, of which a layer says that autograd saves it for backward as the slot of this name, a literal: that of `save` in the
/// layer's facts. Kernels name what they make for their backward; what they are given has its name from who made it.
inline at::Tensor const& save_as(std::string_view slot, at::Tensor const& x) {
  saved_watch::name(slot, x);
  return x;
}

}  // namespace redco
