#pragma once

#include <redco/comm/row_exchange.hpp>

#include <redco/tensor/recorded_function.hpp>
#include <redco/config.hpp>

#include <cstdint>
#include <vector>

namespace redco::comm::detail {

struct row_exchange : tensors::recorded_function<row_exchange> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x, std::int64_t ranks,
                            std::vector<std::int64_t> const& counts) {
    ctx->saved_data["ranks"] = ranks;
    ctx->saved_data["counts"] = counts;
    group& all = *reinterpret_cast<group*>(ranks);
    return all.all_to_all_v(x, row_counts(counts, all.size())).rows;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    group& all = *reinterpret_cast<group*>(ctx->saved_data["ranks"].toInt());
    collective_label const label("gradients of experts' rows");
    return {exchange_rows(g[0], all, row_counts(ctx->saved_data["counts"].toIntVector(), all.size()).back()), {}, {}};
  }
};

}  // namespace redco::comm::detail

namespace redco::comm {

REDCO_INLINE at::Tensor exchange_rows(at::Tensor const& x, group& ranks, row_counts const& rows) {
  if (ranks.size() == 1) return x;
  if (at::GradMode::is_enabled() && x.requires_grad())
    return detail::row_exchange::apply(x, static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&ranks)),
                                       rows.counts());
  return ranks.all_to_all_v(x, rows).rows;
}

}  // namespace redco::comm
