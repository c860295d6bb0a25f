#pragma once

#include <redco/kernel/attention_options.hpp>
#include <redco/kernel/cpu/attention_exact.hpp>
#include <redco/kernel/cpu/attention_problem.hpp>
#include <redco/kernel/cpu/attention_rows.hpp>
#include <redco/kernel/cpu/scratch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace redco::kernel::cpu {

/// Pointers and sizes of one call of gathered_attention (attention to cached keys in any order).
template <class T>
struct gathered_problem {
  using sum = sum_of<T>;

  std::int64_t queries, keys, width;
  attention_options const& options;
  head_view<T const> q;
  T const *k, *v;
  std::int64_t k_stride, v_stride;
  std::int32_t const* places;
  std::int64_t places_stride;
  T* out;                      // shape [R, T, H D], contiguous
  bool const* mask = nullptr;  // shape [R, S]
  std::int64_t mask_stride = 0;
  sum const* bias = nullptr;  // shape [H, distances]
  std::int64_t distances = 0;

  std::int64_t group() const { return options.heads / options.kv_heads; }
  std::int64_t visible(std::int64_t i) const { return options.causal ? std::min(keys, options.query0 + i + 1) : keys; }
  std::int64_t lowest(std::int64_t i) const {
    return options.window > 0 ? std::max<std::int64_t>(0, options.query0 + i + 1 - options.window) : 0;
  }
};

/// Adds factor * from[0, n) to to[0, n), with vectors of W elements.
template <int W, class T>
[[gnu::always_inline]] inline void add_lanes(float* to, T const* from, float factor, std::int64_t n) {
  typename lanes<W>::real x, y;
  std::int64_t j = 0;
  for (; j + W <= n; j += W) {
    load_lanes<W>(x, from + j);
    load_lanes<W>(y, to + j);
    store_lanes<W>(to + j, y + x * factor);
  }
  for (; j < n; ++j) to[j] += static_cast<float>(from[j]) * factor;
}

template <int>
void add_lanes(double* to, double const* from, double factor, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) to[j] += from[j] * factor;
}

/// The attention of query `i` of row `r`, for the heads [h0, h0 + heads). First computes all
/// scores, key by key, then softmax, then the weighted sums of values, key by key. Each cached key
/// and value is therefore read once and contiguously.
template <class T>
struct gathered_task {
  gathered_problem<T> const& a;
  std::int64_t r, i, h0, heads;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    using sum = sum_of<T>;
    auto const d = a.width, n = a.visible(i), low = a.lowest(i), group = a.group(), stride = padded_columns(a.keys);
    sum* const z = scratch<sum, 9>(heads * stride);
    sum* const o = scratch<sum, 10>(heads * d);
    sum* const totals = scratch<sum, 11>(heads);
    T const* const q = a.q.at(r, i, h0 * d);
    std::int32_t const* const places = a.places + r * a.places_stride;
    auto const scale = static_cast<sum>(a.options.scale_of(d));
    for (auto j = low; j < n; ++j) {
      T const* const key = a.k + places[j] * a.k_stride + h0 / group * d;
      for (std::int64_t h = 0; h < heads; ++h)
        z[h * stride + j] = scale * dot_lanes<W>(q + h * d, key + h / group * d, d);
    }
    std::fill_n(o, heads * d, sum(0));
    bool const* const mask = a.mask == nullptr ? nullptr : a.mask + r * a.mask_stride;
    bool const sees = mask == nullptr || std::find(mask + low, mask + n, true) != mask + n;
    for (std::int64_t h = 0; h < heads; ++h) {
      sum* const row = z + h * stride;
      std::fill_n(row, low, -std::numeric_limits<sum>::infinity());
      if (sees) {
        adjust(row, mask, low, n, h0 + h);
      } else {
        std::fill(row + low, row + n, sum(0));
      }
      sum top;
      totals[h] = softmax_lanes<W>(row, n, n, static_cast<sum const*>(nullptr), row, top);
    }
    for (auto j = low; j < n; ++j) {
      T const* const value = a.v + places[j] * a.v_stride + h0 / group * d;
      for (std::int64_t h = 0; h < heads; ++h) add_lanes<W>(o + h * d, value + h / group * d, z[h * stride + j], d);
    }
    T* const to = a.out + (r * a.queries + i) * a.options.heads * d + h0 * d;
    for (std::int64_t h = 0; h < heads; ++h) scale_lanes<W>(o + h * d, 1 / totals[h], d, to + h * d);
  }

 private:
  [[gnu::always_inline]] void adjust(sum_of<T>* row, bool const* mask, std::int64_t low, std::int64_t n,
                                     std::int64_t h) const {
    if (a.bias != nullptr) {
      auto const* const bias = a.bias + h * a.distances + a.options.distance0 - a.options.query0 - i;
      for (auto j = low; j < n; ++j) row[j] += bias[j];
    }
    if (mask != nullptr)
      for (auto j = low; j < n; ++j) row[j] = mask[j] ? row[j] : -std::numeric_limits<sum_of<T>>::infinity();
  }
};

}  // namespace redco::kernel::cpu
