#pragma once

#include <redco/kernel/batch_norm.hpp>

#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/config.hpp>

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

namespace redco::kernel {

namespace detail {

/// At least f32.
inline at::Tensor widened(at::Tensor const& x) { return x.scalar_type() == at::kDouble ? x : x.to(at::kFloat); }

inline std::vector<std::int64_t> all_but_channels(at::Tensor const& x) {
  std::vector<std::int64_t> dims{0};
  for (std::int64_t d = 2; d < x.dim(); ++d) dims.push_back(d);
  return dims;
}

/// One number per channel beside [B, C, ...].
inline at::Tensor beside(at::Tensor const& channels, at::Tensor const& x) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(x.dim()), 1);
  sizes[1] = channels.numel();
  return channels.view(sizes);
}

/// From ATen's differentiable operators, the statistics as functions of x.
inline at::Tensor batch_norm_composed(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                                      double count, replica_round const& round, double epsilon) {
  auto const dims = all_but_channels(x);
  at::Tensor const wide = widened(x);
  at::Tensor const centered = wide - beside(round.sum(wide.sum(dims)) / count, x);
  at::Tensor const variance = round.sum((centered * centered).sum(dims)) / count;
  return (centered * beside(variance.add(epsilon).rsqrt() * weight, x) + beside(bias, x)).to(x.scalar_type());
}

struct batch_norm_function : redco::detail::recorded_function<batch_norm_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x, at::Tensor const& weight,
                            at::Tensor const& bias, batch_statistics const& of, replica_round const& round,
                            double epsilon) {
    ctx->save_for_backward({x, weight, bias, of.mean, of.variance});
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
    replica_round const round{reinterpret_cast<group*>(ctx->saved_data["ranks"].toInt()),
                              ctx->saved_data["gaps"].toBool()};
    if (at::GradMode::is_enabled()) {
      auto const f = [&](auto const& in) { return batch_norm_composed(in[0], in[1], in[2], count, round, epsilon); };
      auto all = composed_backward(f, {x, weight, bias}, g[0]);
      all.resize(6);
      return all;
    }
    // First as if the statistics did not depend on x, then what they add.
    auto const wide_weight = widened(weight);
    auto [dx, dweight, dbias] = at::native_batch_norm_backward(g[0].contiguous(), x, wide_weight, mean, variance, mean,
                                                               variance, false, epsilon, {true, true, true});
    at::Tensor const sums = round.sum(at::cat({dweight, dbias})) / count;
    std::int64_t const channels = mean.numel();
    at::Tensor const scale = (variance + epsilon).rsqrt(),
                     slope = scale * scale * wide_weight * sums.narrow(0, 0, channels);
    at::Tensor const shift = scale * wide_weight * sums.narrow(0, channels, channels) - slope * mean;
    dx.sub_(beside(slope, x) * x).sub_(beside(shift, x));
    return {dx, dweight.to(weight.scalar_type()), dbias.to(weight.scalar_type()), {}, {}, {}};
  }
};

}  // namespace detail

REDCO_INLINE batch_statistics batch_statistics_of(at::Tensor const& x, replica_round const& round) {
  at::NoGradGuard const no_grad;
  auto const [variance, mean] = at::var_mean(detail::widened(x), detail::all_but_channels(x), at::Scalar(0));
  std::int64_t const channels = mean.numel();
  auto const own = static_cast<double>(x.numel() / channels);
  at::Tensor const sums = round.sum(at::cat({mean * own, at::full({1}, own, mean.options())}));
  double const count = sums[channels].item<double>();
  at::Tensor const whole = sums.narrow(0, 0, channels) / count, apart = mean - whole;
  return {whole, round.sum((variance + apart * apart) * own) / count, count};
}

REDCO_INLINE at::Tensor batch_norm(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                                   batch_statistics const& statistics, replica_round const& round, double epsilon) {
  return detail::batch_norm_function::apply(x, weight, bias, statistics, round, epsilon);
}

REDCO_INLINE at::Tensor batch_norm_with(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                                        at::Tensor const& mean, at::Tensor const& variance, double epsilon) {
  return at::batch_norm(x, detail::widened(weight), detail::widened(bias), mean, variance, false, 0, epsilon, false);
}

}  // namespace redco::kernel
