#pragma once

#include <redco/kernel/norms.hpp>

#include <redco/kernel/composed/norms.hpp>
#include <redco/kernel/composed/widened.hpp>
#include <redco/kernel/cpu/batch_norm.hpp>
#include <redco/kernel/cpu/modulated.hpp>
#include <redco/kernel/cpu/norms.hpp>
#include <redco/kernel/cuda/norms.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/kernel/parameter_uses.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstdint>
#include <string>

namespace redco::kernel::detail {

/// Throws `error` with exit code 70 if a defined `weight` or `bias` does not have the size of the
/// last dimension of x. `name` names the operation in the message.
inline void check_norm(char const* name, at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias) {
  auto const fits = [&](at::Tensor const& p) { return !p.defined() || (p.dim() == 1 && p.size(0) == x.size(-1)); };
  if (x.dim() == 0 || !fits(weight) || !fits(bias))
    throw error(exit_code::internal,
                std::string(name) +
                    ": weight and bias must have one number per feature: give them the size of the "
                    "last dimension of x");
}

}  // namespace redco::kernel::detail

namespace redco::kernel {

REDCO_INLINE at::Tensor layer_norm(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                                   double epsilon) {
  detail::check_norm("layer_norm", x, weight, bias);
  at::Tensor const y = detail::dispatch(
      x, [&] { return cuda::norm<true>(x, weight, bias, epsilon); },
      [&] { return cpu::norm<true>(x, weight, bias, epsilon); },
      [&] { return composed::norm<true>(x, weight, bias, epsilon).y; });
  return reported_norm(y, weight, bias, [x, epsilon] { return composed::norm_hat<true>(x, epsilon).y; });
}

REDCO_INLINE at::Tensor rms_norm(at::Tensor const& x, at::Tensor const& weight, double epsilon, double offset) {
  detail::check_norm("rms_norm", x, weight, {});
  at::Tensor const y = detail::dispatch(
      x, [&] { return cuda::norm<false>(x, weight, {}, epsilon, offset); },
      [&] { return cpu::norm<false>(x, weight, {}, epsilon, offset); },
      [&] { return composed::norm<false>(x, weight, {}, epsilon, offset).y; });
  return reported_norm(y, weight, {}, [x, epsilon] { return composed::norm_hat<false>(x, epsilon).y; });
}

REDCO_INLINE at::Tensor split_rms_norm(at::Tensor const& x, at::Tensor const& weight, double epsilon,
                                       comm::replica_round const& ranks, double count) {
  detail::check_norm("split_rms_norm", x, weight, {});
  return detail::dispatch(
      x, [&] { return cpu::split_rms_norm(x, weight, epsilon, ranks, count); },
      [&] { return composed::split_rms_norm(x, weight, epsilon, ranks, count); });
}

REDCO_INLINE at::Tensor modulated_layer_norm(at::Tensor const& x, at::Tensor const& modulation, double epsilon) {
  return detail::dispatch(
      x, [&] { return cpu::modulated_norm(x, modulation, epsilon); },
      [&] { return composed::modulated_norm(x, modulation, epsilon).y; });
}

REDCO_INLINE at::Tensor gated(at::Tensor const& x, at::Tensor const& gate) {
  return detail::dispatch(
      x, [&] { return cpu::gated(x, gate); }, [&] { return x * gate; });
}

REDCO_INLINE batch_statistics batch_statistics_of(at::Tensor const& x, comm::replica_round const& round) {
  at::NoGradGuard const no_grad;
  auto const [variance, mean] = detail::dispatch(
      x, [&] { return cpu::channel_moments(x); }, [&] { return composed::channel_moments(x); });
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
