#pragma once

#include <redco/kernel/cpu/lanes.hpp>
#include <redco/kernel/cpu/pack_pairs.hpp>
#include <redco/kernel/cpu/panel_product.hpp>
#include <redco/kernel/cpu/scratch.hpp>
#include <redco/tensor/bf16_path.hpp>
#include <redco/tensor/f32_path.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace redco::kernel::cpu {

/// A product y [m, n] = x [m, k] w^T of a few rows x and a contiguous weight w [n, k], in f32 or
/// bf16, on the calling thread. Rows of x and y may be strided. n is at least 12. For bf16, k is
/// even and the CPU has AVX512-bf16. Sums are f32 and run over k in order.
///
/// A copy of w would take a fifth of the time, because w is larger than x. So x is copied, in
/// panels of 32 rows, and each tile of y^T reads rows of w where they are. The results have the
/// bits of f32_product and packed_product, which copy w.
template <class T>
struct few_rows_product {
  std::int64_t m, n, k;
  T const* x;
  std::int64_t x_stride;
  T const* w;
  T* y;
  std::int64_t y_stride;

  /// Returns true if this product is faster than the others of this process.
  static bool is_faster(std::int64_t m, std::int64_t n, std::int64_t k) {
    bool const small = m <= 128 && n >= 32 && k >= 32;
    if constexpr (is_bf16)
      return small && k % 2 == 0 && has_avx512_bf16() && tensors::bf16_path_in_use() == tensors::bf16_path::packed;
    return small && tensors::f32_path_in_use() == tensors::f32_path::packed;
  }

  void run() const {
    word* const panels = aligned_scratch<word, 41>((m + width - 1) / width * panel_words());
    for (std::int64_t row = 0; row < m; row += width)
      pack(x + row * x_stride, std::min(width, m - row), panels + row / width * panel_words());
    strips const all{*this, panels};
    if constexpr (!is_bf16) with_lanes<float>(all);
#if defined(__x86_64__)
    if constexpr (is_bf16) all.template operator()<16>();
#endif
  }

 private:
  static constexpr bool is_bf16 = std::is_same_v<T, at::BFloat16>;
  using word = std::conditional_t<is_bf16, bf16_pair, float>;      ///< elements multiplied at once
  using bits = std::conditional_t<is_bf16, std::uint16_t, float>;  ///< an element as a number
  static constexpr std::int64_t width = 32, elements = sizeof(word) / sizeof(T);

  std::int64_t panel_words() const { return k / elements * width; }

  void pack(T const* from, std::int64_t count, word* to) const {
    if constexpr (!is_bf16) pack_turned<width>(from, x_stride, count, k, to);
#if defined(__x86_64__)
    if constexpr (is_bf16) pack_pairs_native<width>({from, x_stride, true}, k, 0, count, to);
#endif
  }

  /// Computes all tiles.
  struct strips {
    few_rows_product const& p;
    word const* panels;

    template <int W>
    [[gnu::always_inline]] void operator()() const {
      constexpr std::size_t rows = W == 16 ? 12 : 4;
      constexpr std::make_index_sequence<rows> all;
      T turned[rows * width];
      for (std::int64_t i = 0; i < p.n; i += rows) {
        // The last strip begins early, so that it is complete.
        std::int64_t const first = std::min(i, p.n - static_cast<std::int64_t>(rows));
        for (std::int64_t row = 0; row < p.m; row += width) {
          std::int64_t const count = std::min(width, p.m - row);
          word const* const panel = panels + row / width * p.panel_words();
          for (std::int64_t j = 0; j < count; j += 2 * W) {
            if (count - j > W) tile<W, 2>(p.w + first * p.k, p.k, panel + j, turned + j, all);
            else tile<W, 1>(p.w + first * p.k, p.k, panel + j, turned + j, all);
          }
          write<rows>(turned, count, p.y + row * p.y_stride + first);
        }
      }
    }

   private:
    /// Writes `count` columns of a tile [rows, width] to rows of y.
    template <std::int64_t Rows>
    [[gnu::always_inline]] void write(T const* turned, std::int64_t count, T* to) const {
      std::int64_t j = 0;
      for (; j + 4 <= count; j += 4)
        for (std::int64_t r = 0; r < Rows; r += 4)
          turn_four(reinterpret_cast<bits const*>(turned + r * width + j), width,
                    reinterpret_cast<bits*>(to + j * p.y_stride + r), p.y_stride);
      for (; j < count; ++j)
        for (std::int64_t r = 0; r < Rows; ++r) to[j * p.y_stride + r] = turned[r * width + j];
    }

    /// Computes Vectors * W columns of a tile: products of rows of w, which begin `k` elements
    /// apart, with a panel.
    template <int W, int Vectors, std::size_t... Row>
    [[gnu::always_inline]] static void tile(float const* rows, std::int64_t k, float const* panel, float* to,
                                            std::index_sequence<Row...>) {
      typename lanes<W>::real left[sizeof...(Row)] = {}, right[sizeof...(Row)] = {}, u, v;
      float x;
      // One pointer per three rows: the CPU's addressing modes add one or two strides for free.
      float const* from[] = {rows + static_cast<std::int64_t>(Row / 3 * 3) * k...};
      for (std::int64_t l = 0; l < k; ++l, panel += width) {
        std::memcpy(&u, panel, sizeof u);
        if constexpr (Vectors == 2) std::memcpy(&v, panel + W, sizeof v);
        ((x = from[Row / 3 * 3][static_cast<std::int64_t>(Row % 3) * k], left[Row] += u * x,
          Vectors == 2 ? static_cast<void>(right[Row] += v * x) : static_cast<void>(0)),
         ...);
        (static_cast<void>(Row % 3 == 0 ? ++from[Row] : from[Row]), ...);
      }
      (std::memcpy(to + static_cast<std::int64_t>(Row) * width, &left[Row], sizeof u), ...);
      if constexpr (Vectors == 2)
        (std::memcpy(to + static_cast<std::int64_t>(Row) * width + W, &right[Row], sizeof v), ...);
    }

#if defined(__x86_64__)
    template <int W, int Vectors, std::size_t... Row>
    REDCO_AVX512_BF16 static void tile(at::BFloat16 const* rows, std::int64_t k, bf16_pair const* panel,
                                       at::BFloat16* to, std::index_sequence<Row...>) {
      __m512 left[sizeof...(Row)], right[sizeof...(Row)];
      ((left[Row] = right[Row] = _mm512_setzero_ps()), ...);
      at::BFloat16 const* from[] = {rows + static_cast<std::int64_t>(Row / 3 * 3) * k...};
      __m512bh x, u, v;
      for (std::int64_t l = 0; l < k; l += 2, panel += width) {
        u = reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel));
        if constexpr (Vectors == 2) v = reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel + W));
        ((x = reinterpret_cast<__m512bh>(
              _mm512_set1_epi32(static_cast<int>(pair_at(from[Row / 3 * 3] + static_cast<std::int64_t>(Row % 3) * k)))),
          left[Row] = _mm512_dpbf16_ps(left[Row], x, u),
          right[Row] = Vectors == 2 ? _mm512_dpbf16_ps(right[Row], x, v) : right[Row]),
         ...);
        (static_cast<void>(Row % 3 == 0 ? from[Row] += 2 : from[Row]), ...);
      }
      (_mm256_storeu_si256(reinterpret_cast<__m256i*>(to + static_cast<std::int64_t>(Row) * width),
                           reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(left[Row]))),
       ...);
      if constexpr (Vectors == 2)
        (_mm256_storeu_si256(reinterpret_cast<__m256i*>(to + static_cast<std::int64_t>(Row) * width + W),
                             reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(right[Row]))),
         ...);
    }
#endif
  };
};

}  // namespace redco::kernel::cpu
