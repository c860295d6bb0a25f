#pragma once

#include <redco/kernel/cpu/fused_linear.hpp>
#include <redco/kernel/cpu/lanes.hpp>
#include <redco/kernel/cpu/product.hpp>
#include <redco/kernel/cpu/scratch.hpp>
#include <redco/kernel/product.hpp>
#include <redco/tensor/bf16_path.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/tensor/without_dispatch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace redco::kernel::cpu {

/// The differentiable function y = x W^T + b in bf16. Computed by the bf16 implementation that this
/// process uses (see bf16_path). Autograd saves x and W.
struct bf16_linear : tensors::recorded_function<bf16_linear> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x_any, at::Tensor const& weight,
                            std::optional<at::Tensor> const& bias) {
    at::Tensor const x = x_any.contiguous();
    ctx->save_for_backward({x, weight});
    ctx->saved_data["wants_x"] = x_any.requires_grad();
    ctx->saved_data["wants_weight"] = weight.requires_grad();
    ctx->saved_data["wants_bias"] = bias && bias->requires_grad();
    auto sizes = x.sizes().vec();
    sizes.back() = weight.size(0);
    auto const y = at::empty(sizes, x.options());
    bf16_product(y.view({-1, weight.size(0)}), x.view({-1, weight.size(1)}), weight.t(), bias.value_or(at::Tensor()));
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& gradients) {
    auto const saved = ctx->get_saved_variables();
    auto const &x = saved[0], &weight = saved[1];
    std::int64_t const in = weight.size(1), out = weight.size(0);
    at::Tensor const g = gradients[0].contiguous().view({-1, out}), rows = x.view({-1, in});
    at::Tensor dx, dw, db;
    if (ctx->saved_data["wants_x"].toBool()) dx = kernel::product(g, weight).view(x.sizes());
    if (ctx->saved_data["wants_weight"].toBool()) dw = kernel::product(g.t(), rows);
    if (ctx->saved_data["wants_bias"].toBool()) db = g.sum(at::IntArrayRef{0});
    return {dx, dw, db};
  }
};

/// Returns the sum of all W elements of a vector, by adding its halves repeatedly.
template <int W>
[[gnu::always_inline]] inline float folded_sum(typename lanes<W>::real const& x) {
  if constexpr (W > 4) {
    typename lanes<W / 2>::real low, high;
    std::memcpy(&low, &x, sizeof low);
    std::memcpy(&high, reinterpret_cast<char const*>(&x) + sizeof low, sizeof high);
    return folded_sum<W / 2>(low + high);
  } else {
    return (x[0] + x[1]) + (x[2] + x[3]);
  }
}

/// Operands of a product y [rows, out] = x [rows, in] W^T + b with few rows. Reading W then takes
/// longer than multiplying, so each element of W is read from memory once and in order.
template <class T>
struct few_rows_problem {
  float const* x;  // contiguous
  T const* weight;
  std::int64_t weight_stride;
  T const* bias;  // may be null
  T* y;           // contiguous
  std::int64_t rows, in, out;
};

/// One thread's part of a product with few rows: the columns [begin, end) of y.
template <class T>
struct few_rows_task {
  few_rows_problem<T> const& a;
  std::int64_t begin, end;

  /// Computes the product. Rows shorter than a SIMD vector use a narrower vector.
  template <int W>
  [[gnu::always_inline]] void operator()() const {
    if constexpr (W > 4)
      if (a.in < W) return operator()<W / 2>();
    std::int64_t column = begin;
    for (; column + 3 <= end; column += 3) all_rows<W, 3>(column);
    for (; column < end; ++column) all_rows<W, 1>(column);
  }

 private:
  template <int W, std::size_t Columns>
  [[gnu::always_inline]] void all_rows(std::int64_t column) const {
    std::int64_t row = 0;
    for (; row + 4 <= a.rows; row += 4) tile<W, Columns>(row, column, std::make_index_sequence<4>{});
    switch (a.rows - row) {
      case 3: tile<W, Columns>(row, column, std::make_index_sequence<3>{}); break;
      case 2: tile<W, Columns>(row, column, std::make_index_sequence<2>{}); break;
      case 1: tile<W, Columns>(row, column, std::make_index_sequence<1>{}); break;
      default: break;
    }
  }

  /// Computes a tile of y, up to four rows by one or three columns. The sums stay in registers.
  template <int W, std::size_t Columns, std::size_t... Row>
  [[gnu::always_inline]] void tile(std::int64_t row, std::int64_t column, std::index_sequence<Row...>) const {
    using real = typename lanes<W>::real;
    constexpr std::size_t last = Columns - 1, middle = Columns / 2;
    float const* const x = a.x + row * a.in;
    T const* const w0 = a.weight + column * a.weight_stride;
    T const* const w1 = w0 + static_cast<std::int64_t>(middle) * a.weight_stride;
    T const* const w2 = w0 + static_cast<std::int64_t>(last) * a.weight_stride;
    real sum0[sizeof...(Row)] = {}, sum1[sizeof...(Row)] = {}, sum2[sizeof...(Row)] = {};
    std::int64_t const next = 3 * a.weight_stride;  // distance of the three rows to prefetch
    real u, v, w, z;
    std::int64_t j = 0;
    for (; j + W <= a.in; j += W) {
      load_lanes<W>(u, w0 + j);
      if constexpr (Columns > 1) {
        load_lanes<W>(v, w1 + j), load_lanes<W>(w, w2 + j);
        if (row == 0)
          __builtin_prefetch(w0 + next + j), __builtin_prefetch(w1 + next + j), __builtin_prefetch(w2 + next + j);
      }
      (static_cast<void>((load_lanes<W>(z, x + static_cast<std::int64_t>(Row) * a.in + j), sum0[Row] += z * u,
                          Columns > 1 ? (sum1[Row] += z * v, sum2[Row] += z * w, 0) : 0)),
       ...);
    }
    (store<W>(row + static_cast<std::int64_t>(Row), column, w0, j, sum0[Row]), ...);
    if constexpr (Columns > 1) {
      (store<W>(row + static_cast<std::int64_t>(Row), column + 1, w1, j, sum1[Row]), ...);
      (store<W>(row + static_cast<std::int64_t>(Row), column + 2, w2, j, sum2[Row]), ...);
    }
  }

  /// Writes element (row, column) of y. Its value is the sum of the vector's elements, plus the
  /// products of the remaining elements from index j on, plus the bias.
  template <int W>
  [[gnu::always_inline]] void store(std::int64_t row, std::int64_t column, T const* w, std::int64_t j,
                                    typename lanes<W>::real const& sum) const {
    float y = folded_sum<W>(sum);
    for (; j < a.in; ++j) y += a.x[row * a.in + j] * static_cast<float>(w[j]);
    if (a.bias != nullptr) y += static_cast<float>(a.bias[column]);
    a.y[row * a.out + column] = static_cast<T>(y);
  }
};

/// Largest number of rows for which few_rows_linear is faster than other products.
inline constexpr std::int64_t few_rows = 32;

/// Returns true if few_rows_linear should compute x W^T. This is the case if grad mode is off and x
/// has at most `few_rows` rows.
inline bool has_few_rows(at::Tensor const& x, at::Tensor const& weight) {
  return !at::GradMode::is_enabled() && x.scalar_type() == weight.scalar_type() && weight.dim() == 2 &&
         weight.stride(1) == 1 && x.numel() > 0 && x.numel() <= few_rows * x.size(-1) && x.size(-1) == weight.size(1);
}

template <class T>
void run_few_rows(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias, at::Tensor const& y) {
  at::Tensor const wide = x.scalar_type() == at::kFloat ? x : x.to(at::kFloat),
                   b = bias.defined() ? bias.contiguous() : bias;
  few_rows_problem<T> const a{wide.const_data_ptr<float>(),
                              weight.const_data_ptr<T>(),
                              weight.stride(0),
                              b.defined() ? b.const_data_ptr<T>() : nullptr,
                              y.mutable_data_ptr<T>(),
                              x.size(0),
                              x.size(1),
                              weight.size(0)};
  constexpr std::int64_t grain = 65536;  // approximate elements of W per part
  tensors::parallel(a.out, std::max<std::int64_t>(1, grain / a.in), [&](std::int64_t begin, std::int64_t end) {
    with_lanes<T>(few_rows_task<T>{a, begin, end});
  });
}

/// Returns x W^T + b in f32, or in bf16 with f32 sums, for an x with few rows. Each element of W is
/// read once.
inline at::Tensor few_rows_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias) {
  c10::SmallVector<std::int64_t, 5> sizes(x.sizes().begin(), x.sizes().end());
  at::Tensor const rows = x.dim() == 2 ? x.contiguous() : x.reshape({-1, sizes.back()}).contiguous();
  sizes.back() = weight.size(0);
  at::Tensor const y = tensors::empty_on_cpu(sizes, x.scalar_type());
  if (x.scalar_type() == at::kFloat) {
    run_few_rows<float>(rows, weight, bias, y);
  } else {
    run_few_rows<at::BFloat16>(rows, weight, bias, y);
  }
  return y;
}

inline at::Tensor linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias) {
  bool const bf16 = x.scalar_type() == at::kBFloat16;
  bool const few = bf16 ? tensors::bf16_path_in_use() != tensors::bf16_path::onednn : x.scalar_type() == at::kFloat;
  if (few && has_few_rows(x, weight)) return few_rows_linear(x, weight, bias);
  if (is_small_linear(x, weight, bias) || is_panel_linear(x, weight, bias) || is_packed_linear(x, weight, bias))
    return fused_linear(x, weight, bias);
  if (!bf16) return at::linear(x, weight, bias);
  return bf16_linear::apply(x, weight, bias.defined() ? std::optional(bias) : std::nullopt);
}

}  // namespace redco::kernel::cpu
