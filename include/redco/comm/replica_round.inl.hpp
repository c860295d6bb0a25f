#pragma once

#include <redco/comm/replica_round.hpp>

#include <redco/comm/group.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/config.hpp>

#include <cstdint>
#include <string_view>

namespace redco::comm::detail {

/// Returns the largest announcement over all replicas; `own` is this replica's. An announcement
/// encodes the size and dtype of the next sum in one number; 0 announces the end of the round.
inline std::int64_t announced(group& ranks, std::int64_t own) {
  at::Tensor const most = at::full({1}, own, at::kLong);
  ranks.all_reduce(most, reduce_op::max);
  return most.item<std::int64_t>();
}
inline constexpr std::int64_t type_codes = static_cast<std::int64_t>(at::ScalarType::NumOptions);

struct replica_sum : tensors::recorded_function<replica_sum> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x, std::int64_t ranks, bool gaps) {
    ctx->saved_data["ranks"] = ranks;
    ctx->saved_data["gaps"] = gaps;
    return round(ranks, gaps).sum(x);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    return {round(ctx->saved_data["ranks"].toInt(), ctx->saved_data["gaps"].toBool()).sum(g[0]), {}, {}};
  }

 private:
  static replica_round round(std::int64_t ranks, bool gaps) { return {reinterpret_cast<group*>(ranks), gaps}; }
};

}  // namespace redco::comm::detail

namespace redco::comm {

REDCO_INLINE at::Tensor replica_round::sum(at::Tensor const& x) const {
  if (ranks == nullptr || ranks->size() == 1) return x;
  if (at::GradMode::is_enabled() && x.requires_grad())
    return detail::replica_sum::apply(x, static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(ranks)), gaps);
  std::string_view const outer = collective_label::current();
  collective_label const label(outer.empty() ? "batch norm statistics" : outer);
  if (gaps) detail::announced(*ranks, x.numel() * detail::type_codes + static_cast<std::int64_t>(x.scalar_type()));
  return ranks->all_reduced(x);
}

REDCO_INLINE void replica_round::finish() const {
  if (gaps) detail::announced(*ranks, 0);
}

REDCO_INLINE void replica_round::sit_out() const {
  collective_label const label("batch norm statistics");
  while (std::int64_t const next = detail::announced(*ranks, 0))
    ranks->all_reduce(at::zeros({next / detail::type_codes}, static_cast<at::ScalarType>(next % detail::type_codes)));
}

}  // namespace redco::comm
