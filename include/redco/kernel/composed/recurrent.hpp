#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace redco::kernel::composed {

/// Computes the outputs of a GRU (gated recurrent unit) step by step with ATen operators, as the
/// reference.
inline at::Tensor gru(at::Tensor const& projected, at::Tensor const& weight, at::Tensor const& bias) {
  at::Tensor h = at::zeros({projected.size(0), weight.size(1)}, projected.options());
  std::vector<at::Tensor> outputs;
  for (std::int64_t t = 0; t < projected.size(1); ++t) {
    auto const p = projected.select(1, t).chunk(3, 1), q = at::linear(h, weight, bias).chunk(3, 1);
    at::Tensor const z = (p[1] + q[1]).sigmoid(), n = (p[2] + (p[0] + q[0]).sigmoid() * q[2]).tanh();
    h = n + z * (h - n);
    outputs.push_back(h);
  }
  return at::stack(outputs, 1);
}

/// Computes the outputs and cells of an LSTM (long short-term memory) step by step with ATen
/// operators, as the reference.
inline std::pair<at::Tensor, at::Tensor> lstm(at::Tensor const& projected, at::Tensor const& weight) {
  at::Tensor const turned = weight.t();
  at::Tensor h = at::zeros({projected.size(0), weight.size(1)}, projected.options()), c = h;
  std::vector<at::Tensor> outputs, cells;
  for (std::int64_t t = 0; t < projected.size(1); ++t) {
    auto const gate = at::addmm(projected.select(1, t), h, turned).chunk(4, 1);
    c = gate[1].sigmoid() * c + gate[0].sigmoid() * gate[2].tanh();
    h = gate[3].sigmoid() * c.tanh();
    outputs.push_back(h), cells.push_back(c);
  }
  return {at::stack(outputs, 1), at::stack(cells, 1)};
}

}  // namespace redco::kernel::composed
