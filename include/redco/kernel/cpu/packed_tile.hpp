#pragma once

#include <redco/kernel/cpu/lanes.hpp>
#include <redco/kernel/cpu/pack_pairs.hpp>

#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace redco::kernel::cpu {

/// Number of columns of matrix b in one packed panel of a bf16 product.
inline constexpr std::int64_t panel_columns = 32;
/// Number of rows of matrix `a` in the largest tile of a bf16 product.
inline constexpr std::int64_t tile_rows = 12;

/// A view of some rows of the left matrix of a product, as pairs of bf16 elements. `row_step` and
/// `pair_step` are the distances between rows and between pairs, in elements.
struct pair_rows {
  at::BFloat16 const* data;
  std::int64_t row_step, pair_step;
  std::int64_t pairs;  ///< number of complete bf16 pairs per row
  bool odd;            ///< true if each row ends with a single bf16

  pair_rows from_row(std::int64_t i) const { return {data + i * row_step, row_step, pair_step, pairs, odd}; }
  at::BFloat16 const* at(std::int64_t row, std::int64_t pair) const { return data + row * row_step + pair * pair_step; }
};

/// The output of a tile of a product: c = alpha sums + beta c + bias, with at most panel_columns
/// columns.
template <class C>
struct tile_target {
  C* c;
  std::int64_t stride, columns;
  float alpha, beta;
  at::BFloat16 const* bias;  ///< bias per column; may be null

  tile_target from_row(std::int64_t i) const { return {c + i * stride, stride, columns, alpha, beta, bias}; }
};

/// The product of a few rows of the left matrix and one packed panel of the right matrix, in plain
/// C++ vectors. bf16 is converted to f32. Used on CPUs without AVX512-bf16.
template <class C, std::size_t Rows>
struct plain_tile {
  pair_rows const& a;
  bf16_pair const* panel;
  tile_target<C> const& to;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    for (std::int64_t column = 0; column < to.columns; column += W)
      columns_from<W>(column, std::make_index_sequence<Rows>{});
  }

 private:
  template <int W, std::size_t... Row>
  [[gnu::always_inline]] void columns_from(std::int64_t column, std::index_sequence<Row...>) const {
    typename lanes<W>::real sums[Rows] = {}, even, odd;
    for (std::int64_t p = 0; p < a.pairs; ++p) {
      widen<W>(panel + p * panel_columns + column, even, odd);
      (static_cast<void>(sums[Row] +=
                         static_cast<float>(a.at(Row, p)[0]) * even + static_cast<float>(a.at(Row, p)[1]) * odd),
       ...);
    }
    if (a.odd) {
      widen<W>(panel + a.pairs * panel_columns + column, even, odd);
      (static_cast<void>(sums[Row] += static_cast<float>(*a.at(Row, a.pairs)) * even), ...);
    }
    (store<W>(sums[Row], column, to.c + static_cast<std::int64_t>(Row) * to.stride), ...);
  }

  template <int W>
  [[gnu::always_inline]] static void widen(bf16_pair const* pairs, typename lanes<W>::real& even,
                                           typename lanes<W>::real& odd) {
    typename lanes<W>::word words;
    std::memcpy(&words, pairs, sizeof words);
    auto const low = words << 16, high = words & 0xffff0000u;
    std::memcpy(&even, &low, sizeof even);
    std::memcpy(&odd, &high, sizeof odd);
  }

  template <int W>
  [[gnu::always_inline]] void store(typename lanes<W>::real const& sums, std::int64_t column, C* row) const {
    std::int64_t const end = std::min<std::int64_t>(W, to.columns - column);
    for (std::int64_t j = 0; j < end; ++j) {
      float x = sums[j] * to.alpha;
      if (to.beta != 0) x += to.beta * static_cast<float>(row[column + j]);
      if (to.bias != nullptr) x += static_cast<float>(to.bias[column + j]);
      row[column + j] = static_cast<C>(x);
    }
  }
};

#if defined(__x86_64__)

/// Writes 16 elements of one row of a tile from their f32 sums: applies alpha, beta and bias, and
/// rounds to C.
template <class C>
REDCO_AVX512_BF16 [[gnu::always_inline]] inline void store_sums(__m512 sums, tile_target<C> const& to, std::int64_t row,
                                                                std::int64_t column) {
  if (column >= to.columns) return;
  auto const inside = static_cast<__mmask16>((1u << std::min<std::int64_t>(16, to.columns - column)) - 1);
  C* const c = to.c + row * to.stride + column;
  sums = _mm512_mul_ps(sums, _mm512_set1_ps(to.alpha));
  if (to.bias != nullptr) {
    __m512i const wide = _mm512_maskz_cvtepu16_epi32(inside, _mm256_maskz_loadu_epi16(inside, to.bias + column));
    sums = _mm512_add_ps(sums, _mm512_castsi512_ps(_mm512_maskz_slli_epi32(inside, wide, 16)));
  }
  if constexpr (std::is_same_v<C, float>) {
    if (to.beta != 0) sums = _mm512_fmadd_ps(_mm512_set1_ps(to.beta), _mm512_maskz_loadu_ps(inside, c), sums);
    _mm512_mask_storeu_ps(c, inside, sums);
  } else {
    _mm256_mask_storeu_epi16(c, inside, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(sums)));
  }
}

/// Multiplies a few rows of `a` by one packed panel of b with AVX512-bf16 instructions, and writes
/// the results to `to`. Computes the first 16 * Vectors columns of the panel.
template <class C, int Vectors, std::size_t... Row>
REDCO_AVX512_BF16 void native_tile(pair_rows const& a, bf16_pair const* panel, tile_target<C> const& to,
                                   std::index_sequence<Row...>) {
  __m512 low[sizeof...(Row)], high[sizeof...(Row)];
  ((low[Row] = high[Row] = _mm512_setzero_ps()), ...);
  // One pointer per three rows: the CPU's addressing modes add one or two row steps for free.
  at::BFloat16 const* rows[] = {a.at(Row / 3 * 3, 0)...};
  std::int64_t const step = a.row_step, next = a.pair_step, pairs = a.pairs;
  __m512bh x, b0, b1;
  for (std::int64_t p = 0; p < pairs; ++p, panel += panel_columns) {
    b0 = reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel));
    if constexpr (Vectors == 2) b1 = reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel + 16));
    ((x = reinterpret_cast<__m512bh>(
          _mm512_set1_epi32(static_cast<int>(pair_at(rows[Row / 3 * 3] + static_cast<int>(Row % 3) * step)))),
      low[Row] = _mm512_dpbf16_ps(low[Row], x, b0),
      high[Row] = Vectors == 2 ? _mm512_dpbf16_ps(high[Row], x, b1) : high[Row]),
     ...);
    ((Row % 3 == 0 ? static_cast<void>(rows[Row] += next) : static_cast<void>(0)), ...);
  }
  if (a.odd) {
    b0 = reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel));
    if constexpr (Vectors == 2) b1 = reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel + 16));
    ((x = reinterpret_cast<__m512bh>(_mm512_set1_epi32(a.at(Row, pairs)->x)),
      low[Row] = _mm512_dpbf16_ps(low[Row], x, b0),
      high[Row] = Vectors == 2 ? _mm512_dpbf16_ps(high[Row], x, b1) : high[Row]),
     ...);
  }
  (store_sums(low[Row], to, Row, 0), ...);
  if constexpr (Vectors == 2) (store_sums(high[Row], to, Row, 16), ...);
}

#endif

/// Multiplies `rows` rows of `a` by one packed panel of b, in the largest tiles that fit. `native`
/// selects AVX512-bf16 instructions.
template <class C>
void multiply_panel(pair_rows a, bf16_pair const* panel, tile_target<C> to, std::int64_t rows, bool native) {
  auto const tiles = [&]<std::size_t Rows>(std::integral_constant<std::size_t, Rows>) {
    for (; rows >= static_cast<std::int64_t>(Rows); rows -= Rows, a = a.from_row(Rows), to = to.from_row(Rows)) {
#if defined(__x86_64__)
      if (native) {
        native_tile<C, 2>(a, panel, to, std::make_index_sequence<Rows>{});
        continue;
      }
#endif
      if constexpr (Rows <= 4) with_lanes<at::BFloat16>(plain_tile<C, Rows>{a, panel, to});
    }
  };
  if (native) {
    tiles(std::integral_constant<std::size_t, tile_rows>{});
    tiles(std::integral_constant<std::size_t, 8>{});
  }
  tiles(std::integral_constant<std::size_t, 4>{});
  tiles(std::integral_constant<std::size_t, 2>{});
  tiles(std::integral_constant<std::size_t, 1>{});
}

}  // namespace redco::kernel::cpu
