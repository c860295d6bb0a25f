#pragma once

#include <redco/kernel/cpu/pack_pairs.hpp>
#include <redco/kernel/cpu/packed_tile.hpp>
#include <redco/kernel/cpu/scratch.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace redco::kernel::cpu {

/// Operands of a bf16 matrix product c [m, n] = alpha a [m, k] b [k, n] + beta c + bias. Matrices
/// are row-major. Sums are f32 and rounded once. If beta is 0, c is not read.
template <class C>
struct packed_product {
  std::int64_t m, n, k;
  matrix<at::BFloat16> a, b;
  C* c;
  std::int64_t stride;
  float alpha = 1, beta = 0;
  at::BFloat16 const* bias = nullptr;
  bool native = has_avx512_bf16();

  /// Computes the product on several threads, or on one thread inside a parallel loop. Each thread
  /// keeps scratch memory: at most 4 MB for packed panels of b, and 256 KB for a transposed `a`,
  /// but at least one panel each.
  void run() const {
    std::int64_t const most =
        std::max(panel_columns, kept_pairs / std::max<std::int64_t>(1, pairs()) / panel_columns * panel_columns);
    bool const alone = m * n * k < (std::int64_t{1} << 20) || tensors::computes_alone();
    for (std::int64_t first = 0; first < n; first += most) {
      std::int64_t const panels = (std::min(most, n - first) + panel_columns - 1) / panel_columns;
      bf16_pair* const packed = aligned_scratch<bf16_pair, 12>(panels * panel_pairs());
      auto const each = [&](std::int64_t count, std::int64_t grain, auto const& f) {
        tensors::parallel(count, alone ? count : grain, f);
      };
      each(panels, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          std::int64_t const column = first + i * panel_columns;
          pack<panel_columns>(b, column, std::min(panel_columns, n - column), packed + i * panel_pairs());
        }
      });
      std::int64_t const tiles = (m + tile_rows - 1) / tile_rows, threads = alone ? 1 : at::get_num_threads();
      if (tiles >= 4 * threads) {
        std::int64_t const rounds = (tiles * tile_rows - 1) / (most_rows() * threads) + 1, tasks = rounds * threads;
        std::atomic<std::int64_t> next = 0;  // shared counter: slow threads take fewer tasks
        each(threads, 1, [&](std::int64_t, std::int64_t) {
          for (std::int64_t task = next++; task < tasks; task = next++)
            multiply(tiles * task / tasks * tile_rows, std::min(m, tiles * (task + 1) / tasks * tile_rows), packed,
                     first, 0, panels);
        });
      } else {
        each(panels, 1, [&](std::int64_t begin, std::int64_t end) { multiply(0, m, packed, first, begin, end); });
      }
    }
  }

 private:
  /// Number of rows of a transposed left matrix `a` that are packed into pairs of bf16 at once.
  static constexpr std::int64_t row_group = 2 * tile_rows;
  static constexpr std::int64_t kept_pairs = 1 << 20;

  std::int64_t pairs() const { return (k + 1) / 2; }
  /// Returns the number of rows of `a` that fit into a core's cache. They stay there while they are
  /// multiplied by all panels of b.
  std::int64_t most_rows() const {
    return std::max<std::int64_t>(1, (1 << 17) / std::max<std::int64_t>(k, 1) / row_group) * row_group;
  }
  std::int64_t panel_pairs() const { return pairs() * panel_columns; }

  template <std::int64_t Width>
  void pack(matrix<at::BFloat16> const& from, std::int64_t column, std::int64_t count, bf16_pair* to) const {
#if defined(__x86_64__)
    if (native) return pack_pairs_native<Width>(from, k, column, count, to);
#endif
    pack_pairs_plain<Width>(from, k, column, count, to);
  }

  /// Multiplies rows [begin, end) of `a` by the packed panels of b with the indices [from, to).
  /// Panel 0 begins at column `first` of b.
  void multiply(std::int64_t begin, std::int64_t end, bf16_pair const* packed, std::int64_t first, std::int64_t from,
                std::int64_t to) const {
    for (std::int64_t i = begin; i < end; i += most_rows()) {
      std::int64_t const rows = std::min(most_rows(), end - i);
      bf16_pair* const group =
          a.transposed ? aligned_scratch<bf16_pair, 13>((rows + row_group - 1) / row_group * row_group * pairs())
                       : nullptr;
      for (std::int64_t r = 0; a.transposed && r < rows; r += row_group)
        pack<row_group>({a.data, a.stride, false}, i + r, std::min(row_group, rows - r), group + r * pairs());
      for (std::int64_t panel = from; panel < to; ++panel) {
        std::int64_t const column = first + panel * panel_columns;
        tile_target<C> const target{c + i * stride + column,
                                    stride,
                                    std::min(panel_columns, n - column),
                                    alpha,
                                    beta,
                                    bias == nullptr ? nullptr : bias + column};
        bf16_pair const* const b_panel = packed + panel * panel_pairs();
        if (!a.transposed) {
          multiply_panel<C>({a.data + i * a.stride, a.stride, 2, k / 2, k % 2 != 0}, b_panel, target, rows, native);
          continue;
        }
        for (std::int64_t r = 0; r < rows; r += row_group)
          multiply_panel<C>(
              {reinterpret_cast<at::BFloat16 const*>(group + r * pairs()), 2, 2 * row_group, pairs(), false}, b_panel,
              target.from_row(r), std::min(row_group, rows - r), native);
      }
    }
  }
};

}  // namespace redco::kernel::cpu
