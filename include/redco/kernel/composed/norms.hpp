#pragma once

#include <redco/kernel/composed/widened.hpp>
#include <redco/comm/replica_round.hpp>
#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace redco::kernel::composed {

/// Result y = (x - mean) rstd of a norm over the last dimension, with its statistics. rstd is 1 /
/// deviation. `mean` and `rstd` have one element per row, in f64 for f64 inputs, else f32.
struct norm_result {
  at::Tensor y, mean, rstd;
};

template <bool Centered>
norm_result norm_hat(at::Tensor const& x, double epsilon) {
  at::Tensor const wide = widened(x), mean = Centered ? wide.mean(-1, true) : at::Tensor();
  at::Tensor const centered = Centered ? wide - mean : wide;
  at::Tensor const rstd = (centered * centered).mean(-1, true).add(epsilon).rsqrt();
  return {centered * rstd, mean, rstd};
}

/// Returns the factor offset + weight of a norm, at least in f32 if `offset` is not 0.
inline at::Tensor norm_factor(at::Tensor const& weight, double offset) {
  return offset == 0 ? weight : widened(weight) + offset;
}

/// Computes layer norm (if Centered) or rms norm with ATen operators, as the reference. `weight`
/// and `bias` may be undefined.
template <bool Centered>
norm_result norm(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias, double epsilon,
                 double offset = 0) {
  auto result = norm_hat<Centered>(x, epsilon);
  if (weight.defined()) result.y = result.y * norm_factor(weight, offset);
  if (bias.defined()) result.y = result.y + bias;
  result.y = result.y.to(x.scalar_type());
  result.rstd = result.rstd.squeeze(-1);
  if (Centered) result.mean = result.mean.squeeze(-1);
  return result;
}

/// Returns 1 / root mean square of each row of `wide`, whose features are split over `ranks`. Every
/// rank must call it.
inline at::Tensor split_rstd(at::Tensor const& wide, double epsilon, comm::replica_round const& ranks, double count) {
  return (ranks.sum((wide * wide).sum(-1)) / count).add(epsilon).rsqrt();
}

/// Computes rms norm over features that are split over `ranks` with ATen operators.
inline at::Tensor split_rms_norm(at::Tensor const& x, at::Tensor const& weight, double epsilon,
                                 comm::replica_round const& ranks, double count) {
  at::Tensor const wide = widened(x);
  return (wide * split_rstd(wide, epsilon, ranks, count).unsqueeze(-1) * weight).to(x.scalar_type());
}

struct norm_gradients {
  at::Tensor x, weight, bias;
};

/// Computes the backward of a norm with ATen's differentiable operators, for f64 and for
/// create_graph. The statistics are recomputed from x, so that they are differentiated too.
template <bool Centered>
norm_gradients norm_backward(at::Tensor const& g, at::Tensor const& x, at::Tensor const& weight, bool want_bias,
                             at::ScalarType bias_type, double epsilon, double offset) {
  auto const [hat, mean, rstd] = norm_hat<Centered>(x, epsilon);
  auto const wide = g.to(hat.scalar_type());
  auto const weighted = weight.defined() ? wide * norm_factor(weight, offset) : wide;
  auto dx = weighted - hat * (weighted * hat).mean(-1, true);
  if (Centered) dx = dx - weighted.mean(-1, true);
  norm_gradients result;
  result.x = (dx * rstd).to(x.scalar_type());
  std::int64_t const n = x.size(-1);
  if (weight.defined()) result.weight = (wide * hat).reshape({-1, n}).sum(0).to(weight.scalar_type());
  if (want_bias) result.bias = wide.reshape({-1, n}).sum(0).to(bias_type);
  return result;
}

/// Computes modulated_layer_norm with ATen operators, as the reference.
inline norm_result modulated_norm(at::Tensor const& x, at::Tensor const& modulation, double epsilon) {
  auto result = norm_hat<true>(x, epsilon);
  auto const parts = widened(modulation).chunk(2, -1);
  result.y = (result.y * (parts[0] + 1) + parts[1]).to(x.scalar_type());
  result.rstd = result.rstd.squeeze(-1), result.mean = result.mean.squeeze(-1);
  return result;
}

/// Computes the gradients of x and `modulation` in modulated_layer_norm with ATen's differentiable
/// operators, for f64 and for create_graph.
inline torch::autograd::variable_list modulated_norm_backward(at::Tensor const& g, at::Tensor const& x,
                                                              at::Tensor const& modulation, double epsilon) {
  auto const [hat, mean, rstd] = norm_hat<true>(x, epsilon);
  at::Tensor const wide = g.to(hat.scalar_type()),
                   weighted = wide * (widened(modulation).narrow(-1, 0, x.size(-1)) + 1);
  at::Tensor const dx = (weighted - hat * (weighted * hat).mean(-1, true) - weighted.mean(-1, true)) * rstd;
  return {dx.to(x.scalar_type()), at::cat({wide * hat, wide}, -1).sum(1, true).to(modulation.scalar_type())};
}

inline std::vector<std::int64_t> all_but_channels(at::Tensor const& x) {
  std::vector<std::int64_t> dims{0};
  for (std::int64_t d = 2; d < x.dim(); ++d) dims.push_back(d);
  return dims;
}

/// Reshapes `channels`, one element per channel [C], so that it broadcasts over `x` [B, C, ...].
inline at::Tensor along_channels(at::Tensor const& channels, at::Tensor const& x) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(x.dim()), 1);
  sizes[1] = channels.numel();
  return channels.view(sizes);
}

/// Returns the biased variance and the mean of each channel of x [B, C, ...], in f32 (f64 for f64).
inline std::tuple<at::Tensor, at::Tensor> channel_moments(at::Tensor const& x) {
  return at::var_mean(widened(x), all_but_channels(x), at::Scalar(0));
}

/// Computes batch norm of `x` with ATen operators. Mean and variance are computed from `x` as
/// differentiable functions. `count` is the number of elements per channel over all replicas.
inline at::Tensor batch_norm(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias, double count,
                             comm::replica_round const& round, double epsilon) {
  auto const dims = all_but_channels(x);
  at::Tensor const wide = widened(x);
  at::Tensor const centered = wide - along_channels(round.sum(wide.sum(dims)) / count, x);
  at::Tensor const variance = round.sum((centered * centered).sum(dims)) / count;
  return (centered * along_channels(variance.add(epsilon).rsqrt() * weight, x) + along_channels(bias, x))
      .to(x.scalar_type());
}

}  // namespace redco::kernel::composed
