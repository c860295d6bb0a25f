#pragma once

#include <redco/nn/side_products.hpp>

#include <redco/config.hpp>

namespace redco::nn::detail {

REDCO_INLINE at::Tensor plus_columns(at::Tensor const& y, std::vector<some_columns> const& parts) {
  if (parts.size() == 1 && parts.front().values.sizes() == y.sizes()) return y + parts.front().values;
  std::vector<at::Tensor> all;
  std::int64_t next = 0;
  auto const nothing_until = [&](std::int64_t column) {
    auto sizes = y.sizes().vec();
    sizes.back() = column - next;
    if (column > next) all.push_back(at::zeros({1}, y.options()).expand(sizes));
    next = column;
  };
  for (some_columns const& part : parts) {
    nothing_until(part.first);
    all.push_back(part.values);
    next += part.values.size(-1);
  }
  nothing_until(y.size(-1));
  return y + at::cat(all, -1);
}

}  // namespace redco::nn::detail
