#pragma once

#include <redco/kernel/composed/widened.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel::composed {

inline at::Tensor swiglu(at::Tensor const& both) {
  auto const halves = widened(both).chunk(2, -1);
  return (at::silu(halves[0]) * halves[1]).to(both.scalar_type());
}

}  // namespace redco::kernel::composed
