#pragma once

#include <redco/nn/kernel/detail/gemm.hpp>
#include <redco/nn/kernel/detail/scratch.hpp>
#include <redco/tensor/detail/recorded_function.hpp>
#include <redco/tensor/multiplies_bf16.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace redco::kernel::detail {

using bf16_matrix = matrix<at::BFloat16>;

/// Whether x is bf16 on a CPU that has no instructions for it: there ATen's products are several times slower than those of
/// the BLAS.
inline bool lacks_bf16(at::Tensor const& x) {
  static bool const native = multiplies_bf16();
  return !native && x.scalar_type() == at::kBFloat16 && x.is_cpu();
}

inline bf16_matrix matrix_of(at::Tensor const& x, bool transposed = false) {
  return {x.const_data_ptr<at::BFloat16>(), row_step(x), transposed};
}

/// The matrix from row i of x, or of x transposed, on.
inline auto rows_of(at::Tensor const& x, bool transposed = false) {
  return [all = matrix_of(x, transposed)](std::int64_t i) {
    return bf16_matrix{all.data + i * (all.transposed ? 1 : all.stride), all.stride, all.transposed};
  };
}

/// y [m, n] = a [m, k] b + bias in bf16, summed in f32; `a_from(i)` gives a from row i on. About 8 MB of sums at once lie
/// in memory that this thread keeps.
template <class Rows>
void bf16_product(at::Tensor const& y, std::int64_t k, Rows const& a_from, bf16_matrix b, at::Tensor const& bias = {}) {
  std::int64_t const m = y.size(0), n = y.size(1), most = std::max<std::int64_t>(64, (std::int64_t{1} << 21) / n);
  at::Tensor const wide_bias = bias.defined() ? bias.to(at::kFloat) : bias;
  for (std::int64_t i = 0; i < m; i += most) {
    std::int64_t const rows = std::min(most, m - i);
    float* const sums = scratch<float, 0>(rows * n);
    gemm(rows, n, k, 1.0f, a_from(i), b, 0.0f, sums, n);
    auto const block = at::from_blob(sums, {rows, n}, at::kFloat);
    if (wide_bias.defined()) block.add_(wide_bias);
    y.narrow(0, i, rows).copy_(block);
  }
}

/// y = x W^T + b in bf16 without instructions for it. Saves x and W.
struct bf16_linear : redco::detail::recorded_function<bf16_linear> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x_any, at::Tensor const& weight,
                            std::optional<at::Tensor> const& bias) {
    at::Tensor const x = x_any.contiguous();
    ctx->save_for_backward({x, weight});
    ctx->saved_data["wants_x"] = x_any.requires_grad();
    ctx->saved_data["wants_weight"] = weight.requires_grad();
    ctx->saved_data["wants_bias"] = bias && bias->requires_grad();
    std::int64_t const in = weight.size(1), out = weight.size(0);
    auto sizes = x.sizes().vec();
    sizes.back() = out;
    auto const y = at::empty(sizes, x.options());
    bf16_product(y.view({-1, out}), in, rows_of(x.view({-1, in})), matrix_of(weight, true),
                 bias.value_or(at::Tensor()));
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& gradients) {
    auto const saved = ctx->get_saved_variables();
    auto const &x = saved[0], &weight = saved[1];
    std::int64_t const in = weight.size(1), out = weight.size(0);
    at::Tensor const g = gradients[0].contiguous().view({-1, out}), rows = x.view({-1, in});
    bool const wants_x = ctx->saved_data["wants_x"].toBool(), wants_weight = ctx->saved_data["wants_weight"].toBool();
    bool const composed = at::GradMode::is_enabled();  // true exactly under create_graph
    at::Tensor dx, dw, db;
    if (wants_x) dx = composed ? at::mm(g, weight).view(x.sizes()) : input_gradient(g, weight).view(x.sizes());
    if (wants_weight) dw = composed ? at::mm(g.t(), rows) : weight_gradient(g, rows);
    if (ctx->saved_data["wants_bias"].toBool()) db = g.sum(at::IntArrayRef{0});
    return {dx, dw, db};
  }

 private:
  static at::Tensor input_gradient(at::Tensor const& g, at::Tensor const& weight) {
    auto const dx = at::empty({g.size(0), weight.size(1)}, g.options());
    bf16_product(dx, weight.size(0), rows_of(g), matrix_of(weight));
    return dx;
  }

  static at::Tensor weight_gradient(at::Tensor const& g, at::Tensor const& rows) {
    auto const dw = at::empty({g.size(1), rows.size(1)}, g.options());
    bf16_product(dw, g.size(0), rows_of(g, true), matrix_of(rows));
    return dw;
  }
};

}  // namespace redco::kernel::detail
