#pragma once

#include <redco/nn/load_balance.hpp>

#include <redco/config.hpp>

#include <cstdint>

namespace redco::nn {

REDCO_INLINE void update_biases(std::vector<load_balance> const& all, comm::group& ranks) {
  if (all.empty()) return;
  at::NoGradGuard const no_grad;
  std::vector<at::Tensor> loads;
  for (load_balance const& one : all) loads.push_back(one.loads);
  comm::collective_label const label("loads of experts");
  at::Tensor const sums = ranks.all_reduced(at::cat(loads));
  std::int64_t begin = 0;
  for (load_balance const& one : all) {
    at::Tensor const load = sums.narrow(0, begin, one.loads.numel());
    begin += load.numel();
    at::Tensor bias = one.bias.master;
    bias.add_(at::sign(load.mean() - load).to(bias.options()), one.rate);
    bias.sub_(bias.mean());
    if (!one.bias.value.is_alias_of(bias)) one.bias.value.copy_(bias);
    at::Tensor(one.loads).zero_();
  }
}

}  // namespace redco::nn
