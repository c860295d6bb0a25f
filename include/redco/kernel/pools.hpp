#pragma once

#include <redco/kernel/cpu/computes.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstdint>

namespace redco::kernel::cpu {

/// Writes the maximum of each window of `planes` images [rows, columns], and the index of the
/// maximum in its image. Among equal elements the first one counts; a NaN exceeds all numbers.
/// `Window`: rows and columns of a window if known at compile time, else 0.
template <int Window, class T>
void pool_planes(T const* x, std::int64_t planes, std::int64_t rows, std::int64_t columns, std::int64_t window, T* y,
                 std::int64_t* indices) {
  std::int64_t const size = Window > 0 ? Window : window;
  for (std::int64_t plane = 0; plane < planes; ++plane, x += rows * columns)
    for (std::int64_t row = 0; row + size <= rows; row += size)
      for (std::int64_t column = 0; column + size <= columns; column += size) {
        std::int64_t index = row * columns + column;
        auto best = x[index];
        for (std::int64_t i = row; i < row + size; ++i)
          for (std::int64_t j = column; j < column + size; ++j) {
            auto const value = x[i * columns + j];
            // Without branches, because the place of a maximum cannot be predicted.
            bool const larger = static_cast<int>(value > best) | static_cast<int>(value != value);
            best = larger ? value : best;
            index = larger ? i * columns + j : index;
          }
        *y++ = best;
        *indices++ = index;
      }
}

struct max_pool_function : tensors::recorded_function<max_pool_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& any, std::int64_t window) {
    at::Tensor const x = any.contiguous();
    std::int64_t const planes = x.size(0) * x.size(1), rows = x.size(2), columns = x.size(3);
    at::Tensor const y = at::empty({x.size(0), x.size(1), rows / window, columns / window}, x.options());
    at::Tensor const indices = at::empty(y.sizes(), x.options().dtype(at::kLong));
    with_element(x.scalar_type(), [&](auto element) {
      using T = decltype(element);
      auto const* const from = x.const_data_ptr<T>();
      auto* const to = y.data_ptr<T>();
      auto* const places = indices.data_ptr<std::int64_t>();
      std::int64_t const pooled = y.size(2) * y.size(3), grain = std::max<std::int64_t>(1, 16384 / (rows * columns));
      tensors::parallel(planes, grain, [&](std::int64_t begin, std::int64_t end) {
        auto const pool = window == 2 ? pool_planes<2, T> : pool_planes<0, T>;
        pool(from + begin * rows * columns, end - begin, rows, columns, window, to + begin * pooled,
             places + begin * pooled);
      });
    });
    ctx->save_for_backward({x, tensors::save_as("indices", indices)});
    ctx->saved_data["window"] = window;
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto const saved = ctx->get_saved_variables();
    std::int64_t const window = ctx->saved_data["window"].toInt();
    return {at::max_pool2d_with_indices_backward(g[0], saved[0], {window, window}, {window, window}, {0, 0}, {1, 1},
                                                 false, saved[1]),
            {}};
  }
};

}  // namespace redco::kernel::cpu

namespace redco::kernel {

/// Returns the maximum of each window of `window` x `window` pixels of images x [B, C, H, W], as
/// ATen's max_pool2d does: [B, C, H / window, W / window]. Rows and columns that fill no whole
/// window are ignored. Differentiable to any order. Autograd saves x and the int64 index of each
/// maximum.
inline at::Tensor max_pool(at::Tensor const& x, std::int64_t window) {
  return detail::dispatch(
      x, [&] { return cpu::max_pool_function::apply(x, window); },
      [&] {
        return at::max_pool2d(x, {window, window});
      });
}

}  // namespace redco::kernel
