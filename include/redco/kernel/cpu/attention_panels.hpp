#pragma once

#include <redco/kernel/cpu/attention_problem.hpp>
#include <redco/kernel/cpu/panel_product.hpp>
#include <redco/kernel/cpu/product.hpp>
#include <redco/kernel/cpu/scratch.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace redco::kernel::cpu {

/// Returns true if products of attention with `queries` query rows read copies of keys and values
/// in panels of 32 columns. Copies of all keys take too long for a few query rows.
template <class T>
constexpr bool uses_panels(std::int64_t queries, std::int64_t width) {
  return std::is_same_v<T, float> && queries >= 32 && width % panel_product<float>::panel == 0;
}

/// The rows x [rows, width] of keys or values of one head, as the factor x^T of products. In f32
/// the constructor copies x^T to panels of 32 rows of x, scratch memory of the thread.
template <class T, int Slot>
class turned_rows {
 public:
  turned_rows(matrix<T> const& x, std::int64_t rows, std::int64_t width, std::int64_t queries) : x_(x), width_(width) {
    if constexpr (std::is_same_v<T, float>) {
      if (!uses_panels<T>(queries, width)) return;
      panels_ = scratch<T, Slot>(rows * width);
      for (std::int64_t row = 0; row + panel <= rows; row += panel)
        for (std::int64_t l = 0; l < width; l += 4)
          for (std::int64_t j = 0; j < panel; j += 4)
            turn_four(x.data + (row + j) * x.stride + l, x.stride, panels_ + row * width + l * panel + j, panel);
    }
  }

  /// Computes c [m, count] = alpha a [m, width] y^T, where y are the rows of x from `first` on.
  void multiply(std::int64_t m, std::int64_t first, std::int64_t count, sum_of<T> alpha, matrix<T> const& a,
                sum_of<T>* c, std::int64_t stride) const {
    if constexpr (std::is_same_v<T, float>) {
      if (panels_ != nullptr && first % panel == 0 && count % panel == 0)
        return panel_product<T>{.m = m,
                                .n = count,
                                .k = width_,
                                .a = {a.data, a.stride, 1},
                                .b = {panels_ + first * width_, panel, 1},
                                .c = c,
                                .panel_step = panel * width_,
                                .stride = stride,
                                .alpha = alpha}
            .run_part(0, 1);
    }
    matrix<T> const y = x_.from_row(first);
    gemm(m, count, width_, alpha, a, matrix<T>{y.data, y.stride, true}, sum_of<T>(0), c, stride);
  }

 private:
  static constexpr std::int64_t panel = panel_product<float>::panel;

  matrix<T> x_;
  std::int64_t width_;
  T* panels_ = nullptr;
};

/// The rows x [rows, width] of keys or values of one head, as a factor of products. In f32 the
/// constructor copies x to panels of 32 columns, scratch memory of the thread.
template <class T, int Slot>
class straight_rows {
 public:
  straight_rows(matrix<T> const& x, std::int64_t rows, std::int64_t width, std::int64_t queries)
      : x_(x), rows_(rows), width_(width) {
    if constexpr (std::is_same_v<T, float>) {
      if (!uses_panels<T>(queries, width)) return;
      panels_ = scratch<T, Slot>(rows * width);
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t j = 0; j < width; j += panel)
          std::memcpy(panels_ + j * rows + row * panel, x.data + row * x.stride + j, panel * sizeof(T));
    }
  }

  /// Computes c [m, width] = alpha a [m, count] y, where y are `count` rows of x from `first` on.
  void multiply(std::int64_t m, std::int64_t first, std::int64_t count, sum_of<T> alpha, matrix<T> const& a,
                sum_of<T>* c, std::int64_t stride) const {
    if constexpr (std::is_same_v<T, float>) {
      if (panels_ != nullptr)
        return panel_product<T>{.m = m,
                                .n = width_,
                                .k = count,
                                .a = {a.data, a.stride, 1},
                                .b = {panels_ + first * panel, panel, 1},
                                .c = c,
                                .panel_step = panel * rows_,
                                .stride = stride,
                                .alpha = alpha}
            .run_part(0, 1);
    }
    gemm(m, width_, count, alpha, a, x_.from_row(first), sum_of<T>(0), c, stride);
  }

 private:
  static constexpr std::int64_t panel = panel_product<float>::panel;

  matrix<T> x_;
  std::int64_t rows_, width_;
  T* panels_ = nullptr;
};

/// Computes c [m, n] = alpha a^T x, added to c if `adds`, for a [k, m] and x [k, n].
template <class T>
void multiply_turned(std::int64_t m, std::int64_t n, std::int64_t k, sum_of<T> alpha, matrix<T> const& a,
                     matrix<T> const& x, bool adds, sum_of<T>* c, std::int64_t stride) {
  if constexpr (std::is_same_v<T, float>) {
    if (uses_panels<T>(k, n))
      return panel_product<T>{.m = m,
                              .n = n,
                              .k = k,
                              .a = {a.data, 1, a.stride},
                              .b = {x.data, x.stride, 1},
                              .c = c,
                              .start = adds ? product_start::sum : product_start::zero,
                              .stride = stride,
                              .alpha = alpha}
          .run_part(0, 1);
  }
  gemm(m, n, k, alpha, matrix<T>{a.data, a.stride, true}, x, sum_of<T>(adds), c, stride);
}

}  // namespace redco::kernel::cpu
