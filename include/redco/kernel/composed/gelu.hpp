#pragma once

#include <redco/kernel/composed/widened.hpp>
#include <redco/kernel/gelu.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel::composed {

inline at::Tensor gelu(at::Tensor const& x, gelu_form form) {
  if (form != gelu_form::logistic) return at::gelu(x, form == gelu_form::tanh ? "tanh" : "none");
  at::Tensor const wide = widened(x);
  return (wide * at::sigmoid(wide * 1.702)).to(x.scalar_type());
}

}  // namespace redco::kernel::composed
