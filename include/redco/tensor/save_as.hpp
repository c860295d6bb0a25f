#pragma once

#include <redco/tensor/saved_watch.hpp>
#include <redco/tensor/torch.hpp>

#include <string_view>

namespace redco::tensors {

/// Returns `x` and declares its name for the check of saved tensors (--check-saved): autograd saves
/// `x` for backward as the slot `slot` that the layer type declares. `slot` must be a string
/// literal. A kernel names the tensors that it creates for backward; the layer names the kernel's
/// input.
inline at::Tensor const& save_as(std::string_view slot, at::Tensor const& x) {
  saved_watch::name(slot, x);
  return x;
}

}  // namespace redco::tensors
