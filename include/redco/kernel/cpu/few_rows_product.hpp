#pragma once

#include <redco/kernel/cpu/lanes.hpp>
#include <redco/kernel/cpu/pack_pairs.hpp>
#include <redco/kernel/cpu/packed_tile.hpp>
#include <redco/kernel/cpu/panel_product.hpp>
#include <redco/kernel/cpu/scratch.hpp>
#include <redco/tensor/bf16_path.hpp>
#include <redco/tensor/f32_path.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace redco::kernel::cpu {

/// A product y [m, n] = x [m, k] w^T for small m, in f32 or bf16, on several threads, or on one
/// thread inside a parallel loop. w [n, k] is contiguous; rows of x and y may be strided. Requires
/// n >= 12, for bf16 also an even k and AVX512-bf16. Sums are f32, in the order of k: the results
/// equal those of f32_product and packed_product bit by bit.
///
/// Copies x to panels of 32 rows and reads w in place. For m = 64, packed_product needs a fifth of
/// its time to copy w. The calling thread keeps the memory of the panels.
template <class T>
struct few_rows_product {
  std::int64_t m, n, k;
  T const* x;
  std::int64_t x_stride;
  T const* w;
  T* y;
  std::int64_t y_stride;

  /// Returns true if this product is faster than f32_product, packed_product and BLAS.
  static bool is_faster(std::int64_t m, std::int64_t n, std::int64_t k) {
    bool const small = m >= 8 && m <= 128 && n >= 32 && k >= 32;
    if constexpr (is_bf16)
      return small && k % 2 == 0 && has_avx512_bf16() && tensors::bf16_path_in_use() == tensors::bf16_path::packed;
    return small && tensors::f32_path_in_use() == tensors::f32_path::packed;
  }

  void run() const {
    word* const panels = aligned_scratch<word, 41>((m + width - 1) / width * panel_words());
    for (std::int64_t row = 0; row < m; row += width)
      pack(x + row * x_stride, std::min(width, m - row), panels + row / width * panel_words());
    std::int64_t const strips = n / strip_rows, grain = 1 + (std::int64_t{1} << 20) / (strip_rows * m * k);
    tensors::parallel(strips, grain, [&](std::int64_t begin, std::int64_t end) {
      // The last strip also has the rows that remain.
      columns const part{*this, panels, begin * strip_rows, end == strips ? n : end * strip_rows};
      if constexpr (!is_bf16) with_lanes<float>(part);
#if defined(__x86_64__)
      if constexpr (is_bf16) part.template operator()<16>();
#endif
    });
  }

 private:
  static constexpr bool is_bf16 = std::is_same_v<T, at::BFloat16>;
  using word = std::conditional_t<is_bf16, bf16_pair, float>;     ///< elements multiplied at once
  using raw = std::conditional_t<is_bf16, std::uint16_t, float>;  ///< type that copies elements
  static constexpr std::int64_t width = panel_columns, strip_rows = tile_rows,
                                elements_of_word = sizeof(word) / sizeof(T);

  std::int64_t panel_words() const { return k / elements_of_word * width; }

  void pack(T const* from, std::int64_t count, word* to) const {
    if constexpr (!is_bf16) pack_turned<width>(from, x_stride, count, k, to);
#if defined(__x86_64__)
    if constexpr (is_bf16) pack_pairs_native<width>({from, x_stride, true}, k, 0, count, to);
#endif
  }

  /// A task that computes the columns [begin, end) of y, at least 12, from rows of w.
  struct columns {
    few_rows_product const& p;
    word const* panels;
    std::int64_t begin, end;

    template <int W>
    [[gnu::always_inline]] void operator()() const {
      constexpr std::size_t rows = W == 16 ? strip_rows : strip_rows / 3;
      constexpr std::make_index_sequence<rows> each_row;
      T turned[rows * width];  // a tile of the transpose of y
      for (std::int64_t i = begin; i < end; i += rows) {
        // The last tile overlaps the tile before it, so that it is complete.
        std::int64_t const column = std::min(i, end - static_cast<std::int64_t>(rows));
        for (std::int64_t row = 0; row < p.m; row += width) {
          std::int64_t const count = std::min(width, p.m - row);
          word const* const panel = panels + row / width * p.panel_words();
          for (std::int64_t j = 0; j < count; j += 2 * W) {
            if (count - j > W) tile<W, 2>(p.w + column * p.k, p.k, panel + j, turned + j, each_row);
            else tile<W, 1>(p.w + column * p.k, p.k, panel + j, turned + j, each_row);
          }
          write<rows>(turned, count, p.y + row * p.y_stride + column);
        }
      }
    }

   private:
    /// Writes the first `count` columns of a tile [Rows, width] as rows of y.
    template <std::int64_t Rows>
    [[gnu::always_inline]] void write(T const* turned, std::int64_t count, T* to) const {
      std::int64_t j = 0;
      for (; j + 4 <= count; j += 4)
        for (std::int64_t r = 0; r < Rows; r += 4)
          turn_four(reinterpret_cast<raw const*>(turned + r * width + j), width,
                    reinterpret_cast<raw*>(to + j * p.y_stride + r), p.y_stride);
      for (; j < count; ++j)
        for (std::int64_t r = 0; r < Rows; ++r) to[j * p.y_stride + r] = turned[r * width + j];
    }

    /// Computes Vectors * W columns of a tile: some rows of w, which begin `k` elements apart,
    /// times a panel.
    template <int W, int Vectors, std::size_t... Row>
    [[gnu::always_inline]] static void tile(float const* rows, std::int64_t k, float const* panel, float* to,
                                            std::index_sequence<Row...>) {
      typename lanes<W>::real left[sizeof...(Row)] = {}, right[sizeof...(Row)] = {}, u, v;
      float x;
      // One pointer per three rows: the CPU's addressing modes add one or two strides for free. So
      // only every third pointer moves.
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
    static void tile(at::BFloat16 const* rows, std::int64_t k, bf16_pair const* panel, at::BFloat16* to,
                     std::index_sequence<Row...> each_row) {
      native_tile<at::BFloat16, Vectors>({rows, k, 2, k / 2, false}, panel, {to, width, Vectors * W, 1, 0, nullptr},
                                         each_row);
    }
#endif
  };
};

}  // namespace redco::kernel::cpu
