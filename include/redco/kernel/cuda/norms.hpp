#pragma once

#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/kernel/composed/norms.hpp>
#include <redco/kernel/cuda/norm_source.hpp>
#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace redco::kernel::cuda {

/// Returns the weight or bias `p` of a norm, plus `offset`, as contiguous f32, as the kernels need
/// it. The result is undefined if `p` is.
inline at::Tensor norm_parameter(at::Tensor const& p, double offset = 0) {
  return p.defined() ? composed::norm_factor(p.to(at::kFloat), offset).contiguous() : p;
}

inline std::int64_t norm_blocks(std::int64_t rows) { return std::min<std::int64_t>(rows, 65536); }

template <bool Centered>
composed::norm_result norm_forward(at::Tensor const& any, at::Tensor const& weight, at::Tensor const& bias,
                                   double epsilon, double offset) {
  auto const x = any.contiguous(), w = norm_parameter(weight, offset), b = norm_parameter(bias);
  std::int64_t const n = x.size(-1), rows = n == 0 ? 0 : x.numel() / n;
  auto const statistics = x.options().dtype(at::kFloat);
  auto const shape = x.sizes().slice(0, static_cast<std::size_t>(x.dim() - 1));
  composed::norm_result const result{at::empty_like(x), Centered ? at::empty(shape, statistics) : at::Tensor(),
                                     at::empty(shape, statistics)};
  tensors::launch_kernel(norm_source, Centered ? "layer_norm_rows" : "rms_norm_rows", x, norm_blocks(rows),
                         tensors::read_by_kernel(x), tensors::read_by_kernel(w), tensors::read_by_kernel(b),
                         tensors::written_by_kernel(result.y), tensors::written_by_kernel(result.mean),
                         tensors::written_by_kernel(result.rstd), rows, n, static_cast<float>(epsilon));
  return result;
}

/// Returns the gradients of a norm's input, weight and bias. The gradient of a missing weight or
/// bias is undefined. `bias` is the dtype of the bias, or nothing if there is no bias.
template <bool Centered>
torch::autograd::variable_list norm_backward(at::Tensor const& gradient, at::Tensor const& any,
                                             at::Tensor const& weight, at::Tensor const& mean, at::Tensor const& rstd,
                                             std::optional<at::ScalarType> bias, double offset) {
  auto const g = gradient.contiguous(), x = any.contiguous(), w = norm_parameter(weight, offset);
  std::int64_t const n = x.size(-1), rows = n == 0 ? 0 : x.numel() / n;
  constexpr std::int64_t each = 64;
  std::int64_t const sums = (rows + each - 1) / each;
  auto const dx = at::empty_like(x);
  tensors::launch_kernel(norm_source, Centered ? "layer_norm_gradient" : "rms_norm_gradient", x, norm_blocks(rows),
                         tensors::read_by_kernel(g), tensors::read_by_kernel(x), tensors::read_by_kernel(w),
                         tensors::read_by_kernel(mean), tensors::read_by_kernel(rstd), tensors::written_by_kernel(dx),
                         rows, n);
  if (!weight.defined() && !bias) return {dx, {}, {}};
  auto const space = [&](bool wanted) {
    return wanted ? at::empty({sums, n}, x.options().dtype(at::kFloat)) : at::Tensor();
  };
  auto const weight_sums = space(weight.defined()), bias_sums = space(bias.has_value());
  tensors::launch_kernel(norm_source, "norm_parameter_sums", x, norm_blocks(sums), tensors::read_by_kernel(g),
                         tensors::read_by_kernel(x), tensors::read_by_kernel(mean), tensors::read_by_kernel(rstd),
                         tensors::written_by_kernel(weight_sums), tensors::written_by_kernel(bias_sums), rows, n, each);
  auto const total = [](at::Tensor const& parts, at::ScalarType type) { return parts.sum(0).to(type); };
  return {dx, weight.defined() ? total(weight_sums, weight.scalar_type()) : at::Tensor(),
          bias ? total(bias_sums, *bias) : at::Tensor()};
}

template <bool Centered>
struct norm_function : tensors::recorded_function<norm_function<Centered>> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x,
                            std::optional<at::Tensor> const& some_weight, std::optional<at::Tensor> const& some_bias,
                            double epsilon, double offset) {
    auto const weight = some_weight.value_or(at::Tensor()), bias = some_bias.value_or(at::Tensor());
    auto const result = norm_forward<Centered>(x, weight, bias, epsilon, offset);
    ctx->save_for_backward(
        {x, weight, tensors::save_as("mean", result.mean), tensors::save_as("inverse_deviation", result.rstd)});
    ctx->saved_data["epsilon"] = epsilon;
    ctx->saved_data["offset"] = offset;
    if (bias.defined()) ctx->saved_data["bias_type"] = static_cast<std::int64_t>(bias.scalar_type());
    return result.y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto const saved = ctx->get_saved_variables();
    auto const &x = saved[0], &weight = saved[1];
    std::optional<at::ScalarType> bias;
    if (auto const type = ctx->saved_data.find("bias_type"); type != ctx->saved_data.end())
      bias = static_cast<at::ScalarType>(type->second.toInt());
    double const offset = ctx->saved_data["offset"].toDouble();
    torch::autograd::variable_list all;
    if (at::GradMode::is_enabled()) {
      double const epsilon = ctx->saved_data["epsilon"].toDouble();
      all = composed::gradients_of(
          [&](auto const& in) { return composed::norm<Centered>(in[0], in[1], {}, epsilon, offset).y; }, {x, weight},
          g[0]);
      all.push_back(bias ? composed::widened(g[0]).reshape({-1, x.size(-1)}).sum(0).to(*bias) : at::Tensor());
    } else {
      all = norm_backward<Centered>(g[0], x, weight, saved[2], saved[3], bias, offset);
    }
    all.resize(5);
    return all;
  }
};

/// Computes layer norm (if Centered) or rms norm on a CUDA device. `weight` and `bias` may be
/// undefined.
template <bool Centered>
at::Tensor norm(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias, double epsilon,
                double offset = 0) {
  auto const maybe = [](at::Tensor const& p) { return p.defined() ? std::optional(p) : std::nullopt; };
  return norm_function<Centered>::apply(x, maybe(weight), maybe(bias), epsilon, offset);
}

}  // namespace redco::kernel::cuda
