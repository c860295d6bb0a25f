#pragma once

#include <redco/kernel/cpu/attention_problem.hpp>
#include <redco/kernel/cpu/panel_product.hpp>
#include <redco/kernel/cpu/product.hpp>
#include <redco/kernel/cpu/scratch.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace redco::kernel::cpu {

static_assert(panel_product<float>::panel == key_panel);

/// Returns true if products of attention read a copy of a matrix [rows, width] of keys or values in
/// panels of 32. Copies take too long for few query rows, and too much memory (4 MB) for many rows.
template <class T>
constexpr bool uses_panels(std::int64_t queries, std::int64_t rows, std::int64_t width) {
  return std::is_same_v<T, float> && queries >= 32 && width % key_panel == 0 && rows * width <= std::int64_t{1} << 20;
}

/// Rows x [rows, width] of keys or values of one head, as a factor of products. In f32 products
/// read a copy in panels, scratch memory of the thread. Of the objects of a thread with one Slot,
/// only the last one has its copy.
template <class T, int Slot>
class head_rows {
 protected:
  static constexpr std::int64_t panel = key_panel;

  head_rows(matrix<T> const& x, std::int64_t rows, std::int64_t width, std::int64_t queries)
      : x_(x), rows_(rows), width_(width) {
    if (uses_panels<T>(queries, rows, width)) panels_ = scratch<T, Slot>(rows * width);
  }

  matrix<T> x_;
  std::int64_t rows_, width_;
  T* panels_ = nullptr;  ///< null if products read x
};

/// The factor x^T, in panels of 32 rows of x.
template <class T, int Slot>
class turned_rows : head_rows<T, Slot> {
  using rows = head_rows<T, Slot>;
  using rows::panel, rows::panels_, rows::rows_, rows::width_, rows::x_;

 public:
  turned_rows(matrix<T> const& x, std::int64_t count, std::int64_t width, std::int64_t queries)
      : rows(x, count, width, queries) {
    if constexpr (std::is_same_v<T, float>)
      for (std::int64_t row = 0; panels_ != nullptr && row + panel <= count; row += panel)
        panel_product<T>{.m = 0, .n = count, .k = width, .a = {}, .b = {x.data, 1, x.stride}, .c = nullptr}.pack(
            row, panels_ + row * width);
  }

  /// Computes c [m, count] = alpha a [m, width] y^T, where y are `count` rows of x from `first` on.
  /// May also write the columns of c up to the next multiple of 32, if x has as many rows.
  void multiply(std::int64_t m, std::int64_t first, std::int64_t count, sum_of<T> alpha, matrix<T> const& a,
                sum_of<T>* c, std::int64_t stride) const {
    if constexpr (std::is_same_v<T, float>) {
      std::int64_t const whole = (count + panel - 1) / panel * panel;
      if (panels_ != nullptr && first % panel == 0 && first + whole <= rows_)
        return panel_product<T>{.m = m,
                                .n = whole,
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
};

/// The factor x, in panels of 32 columns.
template <class T, int Slot>
class straight_rows : head_rows<T, Slot> {
  using rows = head_rows<T, Slot>;
  using rows::panel, rows::panels_, rows::rows_, rows::width_, rows::x_;

 public:
  straight_rows(matrix<T> const& x, std::int64_t count, std::int64_t width, std::int64_t queries)
      : rows(x, count, width, queries) {
    for (std::int64_t row = 0; panels_ != nullptr && row < count; ++row)
      for (std::int64_t j = 0; j < width; j += panel)
        std::memcpy(panels_ + j * count + row * panel, x.data + row * x.stride + j, panel * sizeof(T));
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
};

/// Computes c [m, n] = alpha a^T x, added to c if `adds`, for a [k, m] and x [k, n].
template <class T>
void multiply_turned(std::int64_t m, std::int64_t n, std::int64_t k, sum_of<T> alpha, matrix<T> const& a,
                     matrix<T> const& x, bool adds, sum_of<T>* c, std::int64_t stride) {
  if constexpr (std::is_same_v<T, float>) {
    if (uses_panels<T>(k, k, n))
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
