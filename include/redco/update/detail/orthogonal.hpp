#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::update::detail {

/// Returns a matrix with the singular vectors of `x` and singular values near 1, by `iterations`
/// steps of a quintic Newton-Schulz iteration in the dtype of `x`. Coefficients and the smallest
/// norm 1e-7 are those of torch.optim.Muon.
inline at::Tensor orthogonal(at::Tensor x, int iterations) {
  bool const tall = x.size(0) > x.size(1);
  if (tall) x = x.t();
  x = x / x.norm().clamp_min(1e-7);
  for (int i = 0; i < iterations; ++i) {
    at::Tensor const gram = x.mm(x.t());
    x = at::addmm(x, at::addmm(gram, gram, gram, -4.7750, 2.0315), x, 3.4445, 1);
  }
  return tall ? x.t() : x;
}

}  // namespace redco::update::detail
