#pragma once

#include <redco/kernel/batch_norm.hpp>
#include <redco/kernel/composed/batch_norm.hpp>
#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/save_as.hpp>

#include <cstdint>

namespace redco::kernel::cpu {

struct batch_norm_function : tensors::recorded_function<batch_norm_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x, at::Tensor const& weight,
                            at::Tensor const& bias, batch_statistics const& of, comm::replica_round const& round,
                            double epsilon) {
    ctx->save_for_backward(
        {x, weight, bias, tensors::save_as("mean", of.mean), tensors::save_as("variance", of.variance)});
    ctx->saved_data["count"] = of.count;
    ctx->saved_data["ranks"] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(round.ranks));
    ctx->saved_data["gaps"] = round.gaps;
    ctx->saved_data["epsilon"] = epsilon;
    return batch_norm_with(x, weight, bias, of.mean, of.variance, epsilon);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto const saved = ctx->get_saved_variables();
    at::Tensor const &x = saved[0], &weight = saved[1], &bias = saved[2], &mean = saved[3], &variance = saved[4];
    double const count = ctx->saved_data["count"].toDouble(), epsilon = ctx->saved_data["epsilon"].toDouble();
    comm::replica_round const round{reinterpret_cast<comm::group*>(ctx->saved_data["ranks"].toInt()),
                                    ctx->saved_data["gaps"].toBool()};
    if (at::GradMode::is_enabled()) {
      auto const f = [&](auto const& in) { return composed::batch_norm(in[0], in[1], in[2], count, round, epsilon); };
      auto all = composed::gradients_of(f, {x, weight, bias}, g[0]);
      all.resize(6);
      return all;
    }
    // First the gradients for constant statistics, then the terms that the statistics add.
    auto const wide_weight = composed::widened(weight);
    auto [dx, dweight, dbias] = at::native_batch_norm_backward(g[0].contiguous(), x, wide_weight, mean, variance, mean,
                                                               variance, false, epsilon, {true, true, true});
    at::Tensor const sums = round.sum(at::cat({dweight, dbias})) / count;
    std::int64_t const channels = mean.numel();
    at::Tensor const scale = (variance + epsilon).rsqrt(),
                     slope = scale * scale * wide_weight * sums.narrow(0, 0, channels);
    at::Tensor const shift = scale * wide_weight * sums.narrow(0, channels, channels) - slope * mean;
    dx.sub_(composed::beside(slope, x) * x).sub_(composed::beside(shift, x));
    return {dx, dweight.to(weight.scalar_type()), dbias.to(weight.scalar_type()), {}, {}, {}};
  }
};

inline at::Tensor batch_norm(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                             batch_statistics const& statistics, comm::replica_round const& round, double epsilon) {
  return batch_norm_function::apply(x, weight, bias, statistics, round, epsilon);
}

}  // namespace redco::kernel::cpu
