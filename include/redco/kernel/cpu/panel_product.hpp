#pragma once

#include <redco/kernel/cpu/lanes.hpp>
#include <redco/kernel/cpu/scratch.hpp>
#include <redco/kernel/cpu/small_product.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace redco::kernel::cpu {

/// Copies the transpose of a 4 x 4 matrix, whose rows are `from_step` elements apart, to rows that
/// are `to_step` elements apart.
template <class T>
void turn_four(T const* from, std::int64_t from_step, T* to, std::int64_t to_step) {
  typedef T four __attribute__((vector_size(4 * sizeof(T))));
  four x[4];
  for (std::int64_t i = 0; i < 4; ++i) std::memcpy(&x[i], from + i * from_step, sizeof x[i]);
  four const p = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5), q = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7),
             r = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5), s = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
  four const y[4] = {__builtin_shufflevector(p, r, 0, 1, 4, 5), __builtin_shufflevector(p, r, 2, 3, 6, 7),
                     __builtin_shufflevector(q, s, 0, 1, 4, 5), __builtin_shufflevector(q, s, 2, 3, 6, 7)};
  for (std::int64_t i = 0; i < 4; ++i) std::memcpy(to + i * to_step, &y[i], sizeof y[i]);
}

/// Transposes `count` rows of `length` elements to a panel [length, Width]. Row i becomes column i;
/// the columns from `count` on are 0. The rows begin `step` elements apart.
template <std::int64_t Width, class T>
void pack_turned(T const* from, std::int64_t step, std::int64_t count, std::int64_t length, T* to) {
  std::int64_t const turned = count / 4 * 4, whole = length / 4 * 4;
  for (std::int64_t l = 0; l < whole; l += 4)
    for (std::int64_t i = 0; i < turned; i += 4) turn_four(from + i * step + l, step, to + l * Width + i, Width);
  for (std::int64_t l = whole; l < length; ++l)
    for (std::int64_t i = 0; i < turned; ++i) to[l * Width + i] = from[i * step + l];
  for (std::int64_t l = 0; turned < Width && l < length; ++l)
    for (std::int64_t i = turned; i < Width; ++i) to[l * Width + i] = i < count ? from[i * step + l] : 0;
}

/// Most elements of the matrix W of a linear map that panel_product computes faster than others.
inline constexpr std::int64_t most_panel_weights = std::int64_t{1} << 16;

/// A product c [m, n] = start + alpha a [m, k] b [k, n] of matrices of medium size. c is row-major,
/// and n is a multiple of `panel`. Faster than BLAS if one of the sizes is a few hundred. The order
/// of summation depends on k alone.
///
/// A tile of c with six rows and two vectors of columns is computed in registers, from `depth` rows
/// of b, whose columns of the tile stay in caches.
template <class T>
struct panel_product {
  static constexpr std::int64_t panel = 32, depth = 128, tile_rows = 6;

  std::int64_t m, n, k;
  stepped_matrix<T> a, b;
  T* c;
  product_start start = product_start::zero;
  T const* bias = nullptr;  ///< bias [n] per column, read only if `start` is `bias`
  /// Number of elements between the first columns of two panels of b
  std::int64_t panel_step = panel;
  std::int64_t stride = n;  ///< Number of elements between rows of c
  T alpha = 1;              ///< factor of a b

  void run() const {
    panel_product const all = with_rows_of_b();
    std::int64_t const parts = threads();
    tensors::parallel(parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part) all.run_part(part, parts);
    });
  }

  /// Returns the number of parts into which a product should be divided.
  static std::int64_t threads() { return tensors::computes_alone() ? 1 : at::get_num_threads(); }

  /// Computes some rows of c: those of a part of `parts`. Requires contiguous rows of b.
  void run_part(std::int64_t part, std::int64_t parts) const {
    std::int64_t const tiles = (m + tile_rows - 1) / tile_rows;
    with_lanes<float>(
        rows{*this, tiles * part / parts * tile_rows, std::min(m, tiles * (part + 1) / parts * tile_rows)});
  }

  /// Copies the columns [column, column + panel) of b to `to` [k, panel]. Columns of b are
  /// contiguous.
  void pack(std::int64_t column, T* to) const {
    pack_turned<panel>(b.data + column * b.column, b.column, panel, k, to);
  }

 private:
  template <int L>
  struct vector {
    typedef T type __attribute__((vector_size(L * sizeof(T))));
  };

  /// Returns this product with a copy of b, in panels of 32 columns, if the rows of b are not
  /// contiguous.
  panel_product with_rows_of_b() const {
    if (b.column == 1) return *this;
    panel_product all = *this;
    T* const panels = scratch<T, 32>(k * n);
    constexpr std::int64_t grain = 65536;  // elements of a part
    tensors::parallel(n / panel, std::max<std::int64_t>(1, grain / (k * panel)), [&](auto begin, auto end) {
      for (std::int64_t i = begin; i < end; ++i) pack(i * panel, panels + i * panel * k);
    });
    all.b = {panels, panel, 1};
    all.panel_step = k * panel;
    return all;
  }

  /// A task that computes rows [begin, end) of c.
  struct rows {
    panel_product const& p;
    std::int64_t begin, end;

    template <int W>
    [[gnu::always_inline]] void operator()() const {
      constexpr int lanes = W * static_cast<int>(sizeof(float)) / static_cast<int>(sizeof(T));
      for (std::int64_t l = 0; l < p.k; l += depth)
        for (std::int64_t j = 0; j < p.n; j += panel)
          for (std::int64_t i = begin; i < end; i += tile_rows)
            for (std::int64_t part = 0; part < panel; part += 2 * lanes) some_rows<lanes>(i, j, part, l);
    }

   private:
    template <int L>
    [[gnu::always_inline]] void some_rows(std::int64_t i, std::int64_t j, std::int64_t part, std::int64_t l) const {
      switch (end - i) {
        case 5: return tile<L>(i, j, part, l, std::make_index_sequence<5>{});
        case 4: return tile<L>(i, j, part, l, std::make_index_sequence<4>{});
        case 3: return tile<L>(i, j, part, l, std::make_index_sequence<3>{});
        case 2: return tile<L>(i, j, part, l, std::make_index_sequence<2>{});
        case 1: return tile<L>(i, j, part, l, std::make_index_sequence<1>{});
        default: return tile<L>(i, j, part, l, std::make_index_sequence<6>{});
      }
    }

    /// Adds to a tile of c the products of `depth` columns of a, from column l on.
    template <int L, std::size_t... Row>
    [[gnu::always_inline]] void tile(std::int64_t i, std::int64_t j, std::int64_t part, std::int64_t l,
                                     std::index_sequence<Row...>) const {
      using real = typename vector<L>::type;
      real left[sizeof...(Row)] = {}, right[sizeof...(Row)] = {}, u, v;
      T* const to = p.c + i * p.stride + j + part;
      auto const begin_at = [&](real & sum, std::int64_t row, std::int64_t column) __attribute__((always_inline)) {
        if (l > 0 || p.start == product_start::sum) std::memcpy(&sum, to + row * p.stride + column, sizeof sum);
        else if (p.start == product_start::bias) std::memcpy(&sum, p.bias + j + part + column, sizeof sum);
      };
      if (p.alpha == 1)
        (static_cast<void>((begin_at(left[Row], static_cast<std::int64_t>(Row), 0),
                            begin_at(right[Row], static_cast<std::int64_t>(Row), L))),
         ...);
      T const* of_a = p.a.data + i * p.a.row + l * p.a.column;
      T const* of_b = p.b.data + j / panel * p.panel_step + l * p.b.row + part;
      for (std::int64_t left_over = std::min(depth, p.k - l); left_over > 0; --left_over) {
        std::memcpy(&u, of_b, sizeof u);
        std::memcpy(&v, of_b + L, sizeof v);
        (static_cast<void>((left[Row] += u * of_a[static_cast<std::int64_t>(Row) * p.a.row],
                            right[Row] += v * of_a[static_cast<std::int64_t>(Row) * p.a.row])),
         ...);
        of_a += p.a.column, of_b += p.b.row;
      }
      auto const end_at = [&](real & sum, std::int64_t row, std::int64_t column) __attribute__((always_inline)) {
        if (p.alpha != 1) {
          real old = {};
          begin_at(old, row, column);
          sum = sum * p.alpha + old;
        }
        std::memcpy(to + row * p.stride + column, &sum, sizeof sum);
      };
      (static_cast<void>((end_at(left[Row], static_cast<std::int64_t>(Row), 0),
                          end_at(right[Row], static_cast<std::int64_t>(Row), L))),
       ...);
    }
  };
};

}  // namespace redco::kernel::cpu
