#pragma once

#include <redco/kernel/activations.hpp>
#include <redco/kernel/composed/widened.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel::composed {

inline at::Tensor gelu(at::Tensor const& x, gelu_form form) {
  if (form != gelu_form::logistic) return at::gelu(x, form == gelu_form::tanh ? "tanh" : "none");
  at::Tensor const wide = widened(x);
  return (wide * at::sigmoid(wide * 1.702)).to(x.scalar_type());
}

inline at::Tensor swiglu(at::Tensor const& both) {
  auto const halves = widened(both).chunk(2, -1);
  return (at::silu(halves[0]) * halves[1]).to(both.scalar_type());
}

}  // namespace redco::kernel::composed
