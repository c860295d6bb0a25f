#pragma once

#include <redco/kernel/composed/widened.hpp>
#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::kernel::composed {

/// Returns the products of the rows of each expert, expert by expert, by ATen operators.
inline at::Tensor grouped_linear(at::Tensor const& x, std::vector<at::Tensor> const& weights,
                                 std::vector<std::int64_t> const& offsets) {
  std::vector<at::Tensor> columns;
  for (at::Tensor const& weight : weights) {
    std::vector<at::Tensor> rows;
    for (std::int64_t e = 0; e < weight.size(0); ++e) {
      auto const at = static_cast<std::size_t>(e);
      rows.push_back(at::matmul(x.narrow(0, offsets[at], offsets[at + 1] - offsets[at]), weight[e].t()));
    }
    columns.push_back(at::cat(rows));
  }
  return columns.size() == 1 ? columns[0] : at::cat(columns, -1);
}

inline at::Tensor spread_rows(at::Tensor const& x, at::Tensor const& slots, std::int64_t copies) {
  std::int64_t const width = x.size(1), rows = slots.numel();
  at::Tensor const all = x.unsqueeze(1).expand({x.size(0), copies, width}).reshape({rows, width});
  return at::zeros({rows, width}, x.options()).index_copy(0, slots.to(x.device()), all);
}

inline at::Tensor combine_rows(at::Tensor const& rows, at::Tensor const& weights, at::Tensor const& slots,
                               std::int64_t copies) {
  std::int64_t const width = rows.size(1);
  at::Tensor const chosen = widened(rows.index_select(0, slots.to(rows.device())));
  at::Tensor const all = chosen.view({slots.numel() / copies, copies, width});
  return (weights.defined() ? all * weights.unsqueeze(-1) : all).sum(1).to(rows.scalar_type());
}

inline at::Tensor router_scores(at::Tensor const& x, at::Tensor const& weight) {
  return at::matmul(widened(x), widened(weight).t());
}

}  // namespace redco::kernel::composed
