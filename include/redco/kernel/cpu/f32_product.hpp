#pragma once

#include <redco/kernel/cpu/lanes.hpp>
#include <redco/kernel/cpu/panel_product.hpp>
#include <redco/kernel/cpu/scratch.hpp>
#include <redco/kernel/cpu/small_product.hpp>
#include <redco/tensor/f32_path.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace redco::kernel::cpu {

/// Returns true if f32_product computes a [m, k] b [k, n] in this process, rather than BLAS. The
/// answer does not depend on m, so that rows of a product have the same bits computed apart.
inline bool is_packed_product(std::int64_t n, std::int64_t k) {
  return n >= 32 && k >= 32 && n * k > most_panel_weights && tensors::f32_path_in_use() == tensors::f32_path::packed;
}

/// A large f32 product c [m, n] = start + alpha a [m, k] b [k, n] on several threads, or on one
/// thread inside a parallel loop. c is row-major; its rows may be strided. The order of summation
/// depends on k alone.
///
/// Strips of b, 32 columns wide, and of a, 12 rows high, are copied first, so that a tile of c
/// reads contiguous memory (Goto and van de Geijn 2008). A strip has at most 1536 addends. A task
/// multiplies its strips of a by some strips of b after the other, so that both stay in a
/// second-level cache of 1 MB. Threads keep scratch memory: 8 MB for b, 192 KB for a.
struct f32_product {
  std::int64_t m, n, k;
  stepped_matrix<float> a, b;
  float* c;
  std::int64_t stride;
  product_start start = product_start::zero;
  float const* bias = nullptr;  ///< bias [n] per column, read only if `start` is `bias`
  float alpha = 1;              ///< factor of a b

  void run() const {
    std::int64_t const threads = tensors::computes_alone() ? 1 : at::get_num_threads();
    std::int64_t const chunks = (k + most_depth - 1) / most_depth, depth = (k + chunks - 1) / chunks,
                       most_columns = strips_of(kept_of_b, wide, depth) * wide;
    for (std::int64_t column = 0; column < n; column += most_columns)
      for (std::int64_t l = 0; l < k; l += depth) {
        chunk const now{*this, column, std::min(most_columns, n - column), l, std::min(depth, k - l)};
        now.run(threads);
      }
  }

 private:
  static constexpr std::int64_t wide = 32, high = 12, most_depth = 1536;
  /// Elements of strips: in scratch memory, and of those that a task uses again and again
  static constexpr std::int64_t kept_of_b = 8 << 18, cached_of_b = 3 << 15, cached_of_a = 3 << 14;

  /// Returns the number of strips [length, width] that `elements` elements hold, at least 1.
  static std::int64_t strips_of(std::int64_t elements, std::int64_t width, std::int64_t length) {
    return std::max<std::int64_t>(1, elements / (width * length));
  }

  /// Copies `length` elements of `count` vectors into strips [length, Width] of Width vectors each.
  /// Vector i begins at from + i * vector; its elements are `element` apart. The last strip is
  /// filled up with vectors of 0.
  template <std::int64_t Width>
  static void pack(float const* from, std::int64_t vector, std::int64_t element, std::int64_t count,
                   std::int64_t length, float* to) {
    if (vector != 1) {  // then elements are contiguous
      for (std::int64_t i = 0; i < count; i += Width)
        pack_turned<Width>(from + i * vector, vector, std::min(Width, count - i), length, to + i * length);
      return;
    }
    std::int64_t const whole = count / Width, left = count - whole * Width;
    for (std::int64_t l = 0; l < length; ++l)
      for (std::int64_t s = 0; s < whole; ++s)
        std::memcpy(to + (s * length + l) * Width, from + s * Width + l * element, Width * sizeof(float));
    from += whole * Width, to += whole * Width * length;
    for (std::int64_t l = 0; left > 0 && l < length; ++l)
      for (std::int64_t i = 0; i < Width; ++i) to[l * Width + i] = i < left ? from[i + l * element] : 0;
  }

  /// The part of the product with `columns` columns of b and `length` rows of b, from row l on.
  struct chunk {
    f32_product const& p;
    std::int64_t column, columns, l, length;

    void run(std::int64_t threads) const {
      std::int64_t const panels = (columns + wide - 1) / wide;
      float* const of_b = aligned_scratch<float, 34>(panels * wide * length);
      auto const each = [&](std::int64_t count, auto const& f) {
        tensors::parallel(count, threads == 1 ? count : 1, f);
      };
      each(panels, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t const first = begin * wide;
        pack<wide>(p.b.data + (column + first) * p.b.column + l * p.b.row, p.b.column, p.b.row,
                   std::min(end * wide, columns) - first, length, of_b + first * length);
      });
      // Each task has some rows and some panels. There are about two tasks per thread if m allows;
      // slow threads take fewer tasks.
      auto const rounded_up = [](std::int64_t x, std::int64_t unit) { return (x + unit - 1) / unit * unit; };
      std::int64_t const most_rows = strips_of(cached_of_a, high, length) * high,
                         wanted = rounded_up(std::max(2 * threads, (p.m + most_rows - 1) / most_rows), threads),
                         rows = rounded_up((p.m + wanted - 1) / wanted, high), blocks = (p.m + rows - 1) / rows,
                         parts = std::clamp<std::int64_t>(threads / blocks, 1, panels), tasks = blocks * parts;
      std::atomic<std::int64_t> next = 0;
      each(std::min(threads, tasks), [&](std::int64_t, std::int64_t) {
        for (std::int64_t task = next++; task < tasks; task = next++) {
          std::int64_t const row = task / parts * rows, part = task % parts;
          multiply(row, std::min(row + rows, p.m), of_b, panels * part / parts, panels * (part + 1) / parts);
        }
      });
    }

    /// Computes rows [row, last) of c with the panels [from, to).
    void multiply(std::int64_t row, std::int64_t last, float const* of_b, std::int64_t from, std::int64_t to) const {
      std::int64_t const strips = (last - row + high - 1) / high;
      float* const of_a = aligned_scratch<float, 35>(strips * high * length);
      pack<high>(p.a.data + row * p.a.row + l * p.a.column, p.a.row, p.a.column, last - row, length, of_a);
      for (std::int64_t i = 0; p.alpha != 1 && i < strips * high * length; ++i) of_a[i] *= p.alpha;
      with_lanes<float>(tiles{*this, row, last, of_a, of_b, from, to});
    }
  };

  /// A task that computes a block of c from strips.
  struct tiles {
    chunk const& now;
    std::int64_t row, last;
    float const *of_a, *of_b;
    std::int64_t from, to;

    template <int W>
    [[gnu::always_inline]] void operator()() const {
      constexpr std::size_t rows = W == 16 ? 12 : 6;
      std::int64_t const group = strips_of(cached_of_b, wide, now.length);
      for (std::int64_t first = from; first < to; first += group)
        for (std::int64_t i = row; i < last; i += high)
          for (std::int64_t panel = first; panel < std::min(first + group, to); ++panel)
            for (std::int64_t r = i; r < std::min(i + high, last); r += static_cast<std::int64_t>(rows))
              for (std::int64_t j = panel * wide; j < std::min((panel + 1) * wide, now.columns); j += 2 * W)
                tile<W>(of_a + (i - row) * now.length + (r - i), of_b + panel * wide * now.length + (j - panel * wide),
                        r, j, std::make_index_sequence<rows>{});
    }

   private:
    /// Computes the tile of c whose first element is (r, now.column + j).
    template <int W, std::size_t... Row>
    [[gnu::always_inline]] void tile(float const* of_rows, float const* of_columns, std::int64_t r, std::int64_t j,
                                     std::index_sequence<Row...>) const {
      using real = typename lanes<W>::real;
      constexpr std::int64_t most = sizeof...(Row);
      f32_product const& p = now.p;
      float edge[most * 2 * W];  // the tile, if c ends within it
      float* const in_c = p.c + r * p.stride + now.column + j;
      std::int64_t const rows = std::min(most, last - r), columns = std::min<std::int64_t>(2 * W, now.columns - j);
      bool const whole = rows == most && columns == 2 * W;
      float* const target = whole ? in_c : edge;
      std::int64_t const step = whole ? p.stride : 2 * W;
      real left[most] = {}, right[most] = {}, u, v;
      if (now.l > 0 || p.start != product_start::zero) {
        bool const sums = now.l > 0 || p.start == product_start::sum;
        float const* begin = sums ? in_c : p.bias + now.column + j;
        std::int64_t begin_step = sums ? p.stride : 0;
        if (!whole) {
          std::memset(edge, 0, sizeof edge);
          for (std::int64_t i = 0; i < rows; ++i)
            std::memcpy(edge + i * step, begin + i * begin_step, static_cast<std::size_t>(columns) * sizeof(float));
          begin = edge, begin_step = step;
        }
        (static_cast<void>(
             (std::memcpy(&left[Row], begin + static_cast<std::int64_t>(Row) * begin_step, sizeof u),
              std::memcpy(&right[Row], begin + static_cast<std::int64_t>(Row) * begin_step + W, sizeof v))),
         ...);
      }
      for (std::int64_t i = 0; i < now.length; ++i, of_rows += high, of_columns += wide) {
        std::memcpy(&u, of_columns, sizeof u);
        std::memcpy(&v, of_columns + W, sizeof v);
        (static_cast<void>((left[Row] += u * of_rows[Row], right[Row] += v * of_rows[Row])), ...);
      }
      (static_cast<void>((std::memcpy(target + static_cast<std::int64_t>(Row) * step, &left[Row], sizeof u),
                          std::memcpy(target + static_cast<std::int64_t>(Row) * step + W, &right[Row], sizeof v))),
       ...);
      for (std::int64_t i = 0; !whole && i < rows; ++i)
        std::memcpy(in_c + i * p.stride, edge + i * step, static_cast<std::size_t>(columns) * sizeof(float));
    }
  };
};

}  // namespace redco::kernel::cpu
