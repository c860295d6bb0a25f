#pragma once

#include <redco/kernel/composed/norms.hpp>
#include <redco/kernel/cpu/norm_rows.hpp>
#include <redco/kernel/norms.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/layer/norms.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace redco::kernel::cpu {

using composed::norm_gradients;
using composed::norm_result;

inline bool norm_has_vectors(at::Tensor const& x) { return x.scalar_type() != at::kDouble && x.numel() > 0; }

/// Returns the weight or bias `p` of a norm, plus `offset`, as contiguous f32, as the kernels need
/// it. The result is undefined if `p` is.
inline at::Tensor norm_parameter(at::Tensor const& p, double offset = 0) {
  return p.defined() ? composed::norm_factor(p.to(at::kFloat), offset).contiguous() : p;
}

inline float const* norm_data(at::Tensor const& p) { return p.defined() ? p.const_data_ptr<float>() : nullptr; }

template <bool Centered, class T>
composed::norm_result norm_kernel(at::Tensor const& any, at::Tensor const& weight, at::Tensor const& bias,
                                  double epsilon, double offset) {
  auto const x = any.contiguous();
  std::int64_t const n = x.size(-1), rows = x.numel() / n;
  auto const statistics = x.options().dtype(at::kFloat);
  auto const shape = x.sizes().slice(0, static_cast<std::size_t>(x.dim() - 1));
  composed::norm_result const result{at::empty_like(x), Centered ? at::empty(shape, statistics) : at::Tensor(),
                                     at::empty(shape, statistics)};
  auto const w = norm_parameter(weight, offset), b = norm_parameter(bias);
  norm_forward_rows<Centered, T> const all{x.const_data_ptr<T>(),
                                           norm_data(w),
                                           norm_data(b),
                                           result.y.template data_ptr<T>(),
                                           Centered ? result.mean.template data_ptr<float>() : nullptr,
                                           result.rstd.template data_ptr<float>(),
                                           rows,
                                           n,
                                           epsilon};
  constexpr std::int64_t grain = 16384;
  tensors::parallel(rows, (grain + n - 1) / n, [&](std::int64_t begin, std::int64_t end) {
    auto part = all;
    part.x += begin * n, part.y += begin * n, part.rstd += begin;
    if constexpr (Centered) part.mean += begin;
    part.rows = end - begin;
    with_lanes<T>(part);
  });
  return result;
}

/// Computes the backward of a norm for f32 and bf16. The gradients of weight and bias are summed
/// per block of 64 rows, and then the sums of the blocks are added in order. The result is
/// therefore independent of the number of threads, and more exact than one long sum.
template <bool Centered, class T>
norm_gradients norm_backward_kernel(at::Tensor const& gradient, at::Tensor const& any, at::Tensor const& weight,
                                    at::Tensor const& mean, at::Tensor const& rstd, bool want_bias,
                                    at::ScalarType bias_type, double offset) {
  auto const g = gradient.contiguous(), x = any.contiguous(), w = norm_parameter(weight, offset);
  std::int64_t const n = x.size(-1), rows = x.numel() / n;
  constexpr std::int64_t block = layers::norm_block_rows, grain = 16384;
  std::int64_t const blocks = (rows + block - 1) / block;
  norm_gradients result{at::empty_like(x), {}, {}};
  auto const sums = at::zeros({2, blocks, n}, x.options().dtype(at::kFloat));
  float* const weight_sums = weight.defined() ? sums.template data_ptr<float>() : nullptr;
  float* const bias_sums = want_bias ? sums.template data_ptr<float>() + blocks * n : nullptr;
  T const* const from_g = g.template const_data_ptr<T>();
  T const* const from_x = x.template const_data_ptr<T>();
  T* const to = result.x.template data_ptr<T>();
  float const* const centers = Centered ? mean.const_data_ptr<float>() : nullptr;
  float const* const scales = rstd.const_data_ptr<float>();
  std::int64_t const blocks_at_once = std::max<std::int64_t>(1, grain / (block * n));
  tensors::parallel(blocks, blocks_at_once, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t const first = i * block;
      norm_backward_rows<Centered, T> const part{from_g + first * n,
                                                 from_x + first * n,
                                                 norm_data(w),
                                                 Centered ? centers + first : nullptr,
                                                 scales + first,
                                                 to + first * n,
                                                 weight_sums ? weight_sums + i * n : nullptr,
                                                 bias_sums ? bias_sums + i * n : nullptr,
                                                 std::min(block, rows - first),
                                                 n};
      with_lanes<T>(part);
    }
  });
  if (weight_sums) result.weight = sums[0].sum(0).to(weight.scalar_type());
  if (bias_sums) result.bias = sums[1].sum(0).to(bias_type);
  return result;
}

template <bool Centered>
struct norm_function : tensors::recorded_function<norm_function<Centered>> {
  // apply accepts an undefined parameter only as an empty optional.
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x,
                            std::optional<at::Tensor> const& some_weight, std::optional<at::Tensor> const& some_bias,
                            double epsilon, double offset) {
    auto const weight = some_weight.value_or(at::Tensor()), bias = some_bias.value_or(at::Tensor());
    bool const vectors = norm_has_vectors(x);
    auto const result = !vectors ? composed::norm<Centered>(x, weight, bias, epsilon, offset)
                        : x.scalar_type() == at::kFloat
                            ? norm_kernel<Centered, float>(x, weight, bias, epsilon, offset)
                            : norm_kernel<Centered, at::BFloat16>(x, weight, bias, epsilon, offset);
    ctx->save_for_backward(
        {x, weight, tensors::save_as("mean", result.mean), tensors::save_as("inverse_deviation", result.rstd)});
    ctx->saved_data["epsilon"] = epsilon;
    ctx->saved_data["offset"] = offset;
    ctx->saved_data["bias"] = bias.defined();
    ctx->saved_data["bias_type"] = static_cast<std::int64_t>(bias.defined() ? bias.scalar_type() : at::kFloat);
    return result.y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto const saved = ctx->get_saved_variables();
    auto const &x = saved[0], &weight = saved[1];
    bool const want_bias = ctx->saved_data["bias"].toBool();
    auto const bias_type = static_cast<at::ScalarType>(ctx->saved_data["bias_type"].toInt());
    bool const vectors = norm_has_vectors(x) && !at::GradMode::is_enabled();
    double const offset = ctx->saved_data["offset"].toDouble();
    auto const grads =
        !vectors ? composed::norm_backward<Centered>(g[0], x, weight, want_bias, bias_type,
                                                     ctx->saved_data["epsilon"].toDouble(), offset)
        : x.scalar_type() == at::kFloat
            ? norm_backward_kernel<Centered, float>(g[0], x, weight, saved[2], saved[3], want_bias, bias_type, offset)
            : norm_backward_kernel<Centered, at::BFloat16>(g[0], x, weight, saved[2], saved[3], want_bias, bias_type,
                                                           offset);
    return {grads.x, grads.weight, grads.bias, at::Tensor(), at::Tensor()};
  }
};

/// Computes layer norm (if Centered) or rms norm on the CPU. `weight` and `bias` may be undefined.
template <bool Centered>
at::Tensor norm(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias, double epsilon,
                double offset = 0) {
  auto const maybe = [](at::Tensor const& p) { return p.defined() ? std::optional(p) : std::nullopt; };
  return norm_function<Centered>::apply(x, maybe(weight), maybe(bias), epsilon, offset);
}

/// The differentiable function of rms norm over features that are split over ranks.
struct split_rms_norm_function : tensors::recorded_function<split_rms_norm_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x, at::Tensor const& weight,
                            double epsilon, comm::replica_round const& ranks, double count) {
    at::Tensor const wide = composed::widened(x), rstd = composed::split_rstd(wide, epsilon, ranks, count);
    ctx->save_for_backward({x, weight, tensors::save_as("inverse_deviation", rstd)});
    ctx->saved_data["ranks"] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(ranks.ranks));
    ctx->saved_data["epsilon"] = epsilon;
    ctx->saved_data["count"] = count;
    return (wide * rstd.unsqueeze(-1) * weight).to(x.scalar_type());
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto const saved = ctx->get_saved_variables();
    at::Tensor const &x = saved[0], &weight = saved[1], rstd = saved[2].unsqueeze(-1);
    double const epsilon = ctx->saved_data["epsilon"].toDouble(), count = ctx->saved_data["count"].toDouble();
    comm::replica_round const ranks{reinterpret_cast<comm::group*>(ctx->saved_data["ranks"].toInt()), false};
    if (at::GradMode::is_enabled()) {
      auto const f = [&](auto const& in) { return composed::split_rms_norm(in[0], in[1], epsilon, ranks, count); };
      auto all = composed::gradients_of(f, {x, weight}, g[0]);
      all.resize(5);
      return all;
    }
    at::Tensor const gradient = composed::widened(g[0]), normalised = x * rstd;
    at::Tensor dx = gradient * weight;
    at::Tensor const mean = ranks.sum((dx * normalised).sum(-1)).unsqueeze(-1) / count;
    dx.sub_(normalised * mean).mul_(rstd);
    at::Tensor const dweight = (gradient * normalised).flatten(0, -2).sum(0);
    return {dx.to(x.scalar_type()), dweight.to(weight.scalar_type()), {}, {}, {}};
  }
};

inline at::Tensor split_rms_norm(at::Tensor const& x, at::Tensor const& weight, double epsilon,
                                 comm::replica_round const& ranks, double count) {
  return split_rms_norm_function::apply(x, weight, epsilon, ranks, count);
}

}  // namespace redco::kernel::cpu
