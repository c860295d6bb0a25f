#pragma once

#include <redco/kernel/batch_norm.hpp>

#include <redco/kernel/composed/batch_norm.hpp>
#include <redco/kernel/composed/widened.hpp>
#include <redco/kernel/cpu/batch_norm.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/config.hpp>

#include <cstdint>

namespace redco::kernel {

REDCO_INLINE batch_statistics batch_statistics_of(at::Tensor const& x, comm::replica_round const& round) {
  at::NoGradGuard const no_grad;
  auto const [variance, mean] = at::var_mean(composed::widened(x), composed::all_but_channels(x), at::Scalar(0));
  std::int64_t const channels = mean.numel();
  auto const own = static_cast<double>(x.numel() / channels);
  at::Tensor const sums = round.sum(at::cat({mean * own, at::full({1}, own, mean.options())}));
  double const count = sums[channels].item<double>();
  at::Tensor const whole = sums.narrow(0, 0, channels) / count, apart = mean - whole;
  return {whole, round.sum((variance + apart * apart) * own) / count, count};
}

REDCO_INLINE at::Tensor batch_norm(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                                   batch_statistics const& statistics, comm::replica_round const& round,
                                   double epsilon) {
  return detail::dispatch(
      x, [&] { return cpu::batch_norm(x, weight, bias, statistics, round, epsilon); },
      [&] { return composed::batch_norm(x, weight, bias, statistics.count, round, epsilon); });
}

REDCO_INLINE at::Tensor batch_norm_with(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                                        at::Tensor const& mean, at::Tensor const& variance, double epsilon) {
  return at::batch_norm(x, composed::widened(weight), composed::widened(bias), mean, variance, false, 0, epsilon,
                        false);
}

}  // namespace redco::kernel
