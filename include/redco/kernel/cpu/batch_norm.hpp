#pragma once

#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/kernel/composed/norms.hpp>
#include <redco/kernel/composed/widened.hpp>
#include <redco/kernel/cpu/computes.hpp>
#include <redco/kernel/cpu/lanes.hpp>
#include <redco/kernel/cpu/norms.hpp>
#include <redco/kernel/norms.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace redco::kernel::cpu {

// The scalar loops compute the last elements of a plane whose size is no multiple of W.

/// Sizes of images [examples, channels, n]. A plane is the `n` adjacent elements of an example that
/// belong to one channel.
struct plane_sizes {
  std::int64_t examples, channels, n;
};

/// Computes the mean and the biased variance of the channels [begin, end). Sums squares around the
/// mean of each plane, and joins the planes in f64 in order (Chan, Golub and LeVeque 1979).
template <class T>
struct channel_statistics {
  T const* x;
  float* mean;
  float* variance;
  plane_sizes of;
  std::int64_t begin = 0, end = 0;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    using real = typename lanes<W>::real;
    auto const size = static_cast<double>(of.n);
    for (std::int64_t c = begin; c < end; ++c) {
      double center = 0, squares = 0, count = 0;
      for (std::int64_t b = 0; b < of.examples; ++b, count += size) {
        T const* const plane = x + (b * of.channels + c) * of.n;
        real v, total = {};
        std::int64_t j = 0;
        for (; j + W <= of.n; j += W) {
          load_lanes<W>(v, plane + j);
          total += v;
        }
        float own = sum_of_lanes<W>(total);
        for (; j < of.n; ++j) own += static_cast<float>(plane[j]);
        own /= static_cast<float>(of.n);
        total = real{};
        for (j = 0; j + W <= of.n; j += W) {
          load_lanes<W>(v, plane + j);
          v -= own;
          total += v * v;
        }
        float square = sum_of_lanes<W>(total);
        for (; j < of.n; ++j) square += (static_cast<float>(plane[j]) - own) * (static_cast<float>(plane[j]) - own);
        double const apart = static_cast<double>(own) - center;
        center += apart * size / (count + size);
        squares += static_cast<double>(square) + apart * apart * size * count / (count + size);
      }
      mean[c] = static_cast<float>(center);
      variance[c] = static_cast<float>(squares / count);
    }
  }
};

/// Computes two sums of each channel in [begin, end): of g (x - mean), and of g.
template <class T>
struct channel_gradient_sums {
  T const* g;
  T const* x;
  float const* mean;
  float* along;
  float* plain;
  plane_sizes of;
  std::int64_t begin = 0, end = 0;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    using real = typename lanes<W>::real;
    for (std::int64_t c = begin; c < end; ++c) {
      double along_sum = 0, plain_sum = 0;
      for (std::int64_t b = 0; b < of.examples; ++b) {
        std::int64_t const first = (b * of.channels + c) * of.n;
        real up, v, along_lanes = {}, plain_lanes = {};
        std::int64_t j = first;
        for (; j + W <= first + of.n; j += W) {
          load_lanes<W>(up, g + j);
          load_lanes<W>(v, x + j);
          plain_lanes += up;
          along_lanes += up * (v - mean[c]);
        }
        along_sum += static_cast<double>(sum_of_lanes<W>(along_lanes));
        plain_sum += static_cast<double>(sum_of_lanes<W>(plain_lanes));
        for (; j < first + of.n; ++j) {
          auto const one = static_cast<double>(static_cast<float>(g[j]));
          plain_sum += one;
          along_sum += one * static_cast<double>(static_cast<float>(x[j]) - mean[c]);
        }
      }
      along[c] = static_cast<float>(along_sum);
      plain[c] = static_cast<float>(plain_sum);
    }
  }
};

/// Computes dx = scale g - slope (x - mean) - shift in the planes [begin, end) of all examples.
/// mean, scale, slope and shift have one element per channel.
template <class T>
struct channel_gradient_planes {
  T const* g;
  T const* x;
  T* dx;
  float const* mean;
  float const* scale;
  float const* slope;
  float const* shift;
  plane_sizes of;
  std::int64_t begin = 0, end = 0;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    typename lanes<W>::real up, v;
    for (std::int64_t plane = begin; plane < end; ++plane) {
      std::int64_t const c = plane % of.channels, last = (plane + 1) * of.n;
      std::int64_t j = plane * of.n;
      for (; j + W <= last; j += W) {
        load_lanes<W>(up, g + j);
        load_lanes<W>(v, x + j);
        up = up * scale[c] - (v - mean[c]) * slope[c] - shift[c];
        store_lanes<W>(dx + j, up);
      }
      for (; j < last; ++j)
        dx[j] = static_cast<T>(static_cast<float>(g[j]) * scale[c] - (static_cast<float>(x[j]) - mean[c]) * slope[c] -
                               shift[c]);
    }
  }
};

/// Runs parts of `all` on several threads: `count` channels or planes of `size` elements each.
template <class Lanes>
void for_parts(Lanes const& all, std::int64_t count, std::int64_t size) {
  tensors::parallel(count, std::max<std::int64_t>(1, 16384 / size), [&](std::int64_t begin, std::int64_t end) {
    auto part = all;
    part.begin = begin, part.end = end;
    with_lanes<float>(part);
  });
}

/// Returns the biased variance and the mean of each channel of x [B, C, ...], in f32 (f64 for f64).
inline std::tuple<at::Tensor, at::Tensor> channel_moments(at::Tensor const& any) {
  if (!norm_has_vectors(any)) return composed::channel_moments(any);
  at::Tensor const x = any.contiguous();
  std::int64_t const channels = x.size(1), size = x.numel() / channels;
  at::Tensor const mean = at::empty({channels}, x.options().dtype(at::kFloat)), variance = at::empty_like(mean);
  with_element(x.scalar_type(), [&](auto element) {
    using T = decltype(element);
    channel_statistics<T> const all{x.const_data_ptr<T>(),
                                    mean.data_ptr<float>(),
                                    variance.data_ptr<float>(),
                                    {x.size(0), channels, size / x.size(0)}};
    for_parts(all, channels, size);
  });
  return {variance, mean};
}

/// Computes the gradients of batch norm for f32 and bf16. The sums of each channel run over the
/// replicas of the round.
inline norm_gradients batch_norm_gradients(at::Tensor const& gradient, at::Tensor const& any, at::Tensor const& weight,
                                           batch_statistics const& of, comm::replica_round const& round,
                                           double epsilon) {
  at::Tensor const g = gradient.contiguous(), x = any.contiguous(), dx = at::empty_like(x);
  std::int64_t const channels = x.size(1), size = x.numel() / channels;
  plane_sizes const planes{x.size(0), channels, size / x.size(0)};
  at::Tensor const sums = at::empty({2, channels}, of.mean.options()), mean = of.mean.contiguous();
  float* const to = sums.data_ptr<float>();
  at::Tensor const rstd = (of.variance + epsilon).rsqrt(), scale = rstd * composed::widened(weight);
  with_element(x.scalar_type(), [&](auto element) {
    using T = decltype(element);
    channel_gradient_sums<T> const sum{
        g.const_data_ptr<T>(), x.const_data_ptr<T>(), norm_data(mean), to, to + channels, planes};
    for_parts(sum, channels, size);
    sums[0].mul_(rstd);
    at::Tensor const whole = round.sum(sums.flatten()).view({2, channels}) / of.count;
    at::Tensor const slope = scale * rstd * whole[0], shift = scale * whole[1];
    channel_gradient_planes<T> const plane{
        sum.g, sum.x, dx.data_ptr<T>(), sum.mean, norm_data(scale), norm_data(slope), norm_data(shift), planes};
    for_parts(plane, planes.examples * channels, planes.n);
  });
  return {dx, sums[0].to(weight.scalar_type()), sums[1].to(weight.scalar_type())};
}

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
    if (norm_has_vectors(x)) {
      auto const all = batch_norm_gradients(g[0], x, weight, {mean, variance, count}, round, epsilon);
      return {all.x, all.weight, all.bias.to(bias.scalar_type()), {}, {}, {}};
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
    dx.sub_(composed::along_channels(slope, x) * x).sub_(composed::along_channels(shift, x));
    return {dx, dweight.to(weight.scalar_type()), dbias.to(weight.scalar_type()), {}, {}, {}};
  }
};

inline at::Tensor batch_norm(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                             batch_statistics const& statistics, comm::replica_round const& round, double epsilon) {
  return batch_norm_function::apply(x, weight, bias, statistics, round, epsilon);
}

}  // namespace redco::kernel::cpu
