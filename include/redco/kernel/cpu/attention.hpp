#pragma once

#include <redco/kernel/attention.hpp>
#include <redco/kernel/attention_options.hpp>
#include <redco/kernel/composed/widened.hpp>
#include <redco/kernel/cpu/attention_problem.hpp>
#include <redco/kernel/cpu/attention_rows.hpp>
#include <redco/kernel/cpu/attention_run.hpp>
#include <redco/kernel/cpu/computes.hpp>
#include <redco/kernel/cpu/lanes.hpp>
#include <redco/kernel/cpu/scratch.hpp>
#include <redco/kernel/detail/attention_function.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace redco::kernel::cpu {

using detail::attention_extras;
using detail::attention_gradient;
using detail::attention_result;
using detail::attention_tensors;

template <class T>
head_view<T> view_heads(at::Tensor const& x) {
  return {static_cast<T*>(x.data_ptr()), x.stride(0), x.stride(1)};
}

template <class T>
head_view<T const> read_heads(at::Tensor const& x) {
  return {static_cast<T const*>(x.const_data_ptr()), x.stride(0), x.stride(1)};
}

template <class T>
attention_problem<T> make_problem(detail::attention_tensors const& t, attention_options const& o,
                                  attention_extras const& extras, detail::attention_result const& made) {
  using sum = sum_of<T>;
  at::Tensor const& bias = extras.bias;
  return {.batch = t.q.size(0),
          .queries = t.q.size(1),
          .keys = t.k.size(1),
          .width = t.q.size(2) / o.heads,
          .options = o,
          .q = read_heads<T>(t.q),
          .k = read_heads<T>(t.k),
          .v = read_heads<T>(t.v),
          .out = view_heads<T>(made.out),
          .lse = made.lse.mutable_data_ptr<sum>(),
          .mask = t.mask.defined() ? t.mask.const_data_ptr<bool>() : nullptr,
          .blind = o.blind.defined() ? o.blind.const_data_ptr<bool>() : nullptr,
          .documents = o.documents.defined() ? o.documents.const_data_ptr<std::int64_t>() : nullptr,
          .bias = bias.defined() ? bias.const_data_ptr<sum>() : nullptr,
          .bias_shared = bias.defined() && (bias.dim() == 2 || bias.size(0) == 1),
          .distances = bias.defined() && bias.dim() == 2 ? bias.size(1) : 0,
          .sinks = extras.sinks.defined() ? extras.sinks.const_data_ptr<sum>() : nullptr};
}

inline at::Tensor in_sum_type(at::Tensor const& x, at::ScalarType type) {
  return x.defined() ? x.to(composed::sum_type(type)).contiguous() : x;
}

/// The CPU implementation of attention: functions forward and backward.
/// detail/attention_function.hpp makes a differentiable function of them.
struct attention_kernels {
  static detail::attention_result forward(detail::attention_tensors const& t, attention_options const& o) {
    auto const type = t.q.scalar_type();
    detail::attention_result made{
        at::empty({t.q.size(0), t.q.size(1), t.q.size(2)}, t.q.options()),
        at::empty({t.q.size(0), o.heads, t.q.size(1)}, t.q.options().dtype(composed::sum_type(type)))};
    attention_extras const extras{in_sum_type(t.bias, type), in_sum_type(t.sinks, type)};
    with_element(type,
                 [&](auto element) { run_attention_forward(make_problem<decltype(element)>(t, o, extras, made)); });
    return made;
  }

  static attention_extras backward(detail::attention_tensors const& t, attention_options const& o,
                                   detail::attention_gradient const& gradient, detail::attention_tensors const& into) {
    auto const type = t.q.scalar_type();
    attention_extras const extras{in_sum_type(t.bias, type), in_sum_type(t.sinks, type)};
    auto const dbias = gradient.wants_bias ? at::zeros_like(extras.bias) : at::Tensor();
    auto const dsinks = gradient.wants_sinks ? at::zeros({t.q.size(0), o.heads}, extras.sinks.options()) : at::Tensor();
    with_element(type, [&](auto element) {
      using T = decltype(element);
      auto a = make_problem<T>(t, o, extras, gradient.made);
      a.grad = read_heads<T>(gradient.of_out);
      a.dq = view_heads<T>(into.q), a.dk = view_heads<T>(into.k), a.dv = view_heads<T>(into.v);
      if (gradient.wants_bias) a.dbias = dbias.template mutable_data_ptr<sum_of<T>>();
      if (gradient.wants_sinks) a.dsinks = dsinks.template mutable_data_ptr<sum_of<T>>();
      run_attention_backward(a);
    });
    return {gradient.wants_bias ? dbias.to(t.bias.scalar_type()) : at::Tensor(),
            gradient.wants_sinks ? dsinks.sum(0).to(t.sinks.scalar_type()) : at::Tensor()};
  }
};

/// Pointers and sizes of one call of gathered_attention (attention to cached keys in any order).
template <class T>
struct gathered_problem {
  using sum = sum_of<T>;

  std::int64_t queries, keys, width;
  attention_options const& options;
  head_view<T const> q;
  T const *k, *v;
  std::int64_t k_stride, v_stride;
  std::int32_t const* indices;
  std::int64_t indices_stride;
  T* out;                      // shape [R, T, H D], contiguous
  bool const* mask = nullptr;  // shape [R, S]
  std::int64_t mask_stride = 0;
  sum const* bias = nullptr;  // shape [H, distances]
  std::int64_t distances = 0;
  sum const* sinks = nullptr;  // shape [H]

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
/// and value is therefore read once and contiguously. With a pattern, reads no keys and values of
/// blocks that the pattern hides.
template <class T>
struct gathered_task {
  using sum = sum_of<T>;

  gathered_problem<T> const& a;
  std::int64_t r, i, h0, heads;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    auto const d = a.width, n = a.visible(i), low = a.lowest(i), group = a.group(), stride = padded_columns(a.keys);
    sum* const z = scratch<sum, 9>(heads * stride);
    sum* const o = scratch<sum, 10>(heads * d);
    sum* const totals = scratch<sum, 11>(heads);
    auto* const live = scratch<unsigned char, 9>(heads);
    T const* const q = a.q.at(r, i, h0 * d);
    std::int32_t const* const indices = a.indices + r * a.indices_stride;
    auto const scale = static_cast<sum>(a.options.scale_of(d));
    for (auto j = low; j < n; ++j) {
      T const* const key = a.k + indices[j] * a.k_stride + h0 / group * d;
      mark_live(live, low, j);
      for (std::int64_t h = 0; h < heads; ++h)
        if (live[h] != 0) z[h * stride + j] = scale * dot_lanes<W>(q + h * d, key + h / group * d, d);
    }
    std::fill_n(o, heads * d, sum(0));
    bool const* const mask = a.mask == nullptr ? nullptr : a.mask + r * a.mask_stride;
    for (std::int64_t h = 0; h < heads; ++h) {
      sum* const row = z + h * stride;
      if (a.options.soft_cap > 0)
        soft_cap_lanes<W>(row, n, static_cast<sum>(a.options.soft_cap), static_cast<sum*>(nullptr));
      hide(row, low, n, h0 + h);
      adjust(row, mask, low, n, h0 + h);
      sum top;
      sum const total = softmax_lanes<W>(row, n, n, static_cast<sum const*>(nullptr), row, top);
      totals[h] =
          a.sinks == nullptr ? 1 / total : std::exp(-log_of_one_more(a.sinks[h0 + h] - top - std::log(total))) / total;
    }
    for (auto j = low; j < n; ++j) {
      T const* const value = a.v + indices[j] * a.v_stride + h0 / group * d;
      mark_live(live, low, j);
      for (std::int64_t h = 0; h < heads; ++h)
        if (live[h] != 0) add_lanes<W>(o + h * d, value + h / group * d, z[h * stride + j], d);
    }
    T* const to = a.out + (r * a.queries + i) * a.options.heads * d + h0 * d;
    for (std::int64_t h = 0; h < heads; ++h) scale_lanes<W>(o + h * d, totals[h], d, to + h * d);
  }

 private:
  static constexpr sum never = -std::numeric_limits<sum>::infinity();

  bool is_live(std::int64_t h, std::int64_t block) const {
    auto const& pattern = a.options.pattern;
    return pattern.has(a.options.head0 + h, (a.options.query0 + i) / pattern.block, block);
  }

  /// Sets a flag for each head that sees the block of key `j`, at the first key `low` and at the
  /// start of each block; without a pattern, at the first key only.
  void mark_live(unsigned char* live, std::int64_t low, std::int64_t j) const {
    auto const block = a.options.pattern.block;
    if (j != low && (block == 0 || j % block != 0)) return;
    for (std::int64_t h = 0; h < heads; ++h) live[h] = block == 0 || is_live(h0 + h, j / block);
  }

  /// Sets the scores of keys before `low`, and of blocks that the pattern hides, to -infinity.
  void hide(sum* row, std::int64_t low, std::int64_t n, std::int64_t h) const {
    std::fill_n(row, low, never);
    auto const block = a.options.pattern.block;
    if (block == 0) return;
    for (auto j = low; j < n; j = (j / block + 1) * block)
      if (!is_live(h, j / block)) std::fill(row + j, row + std::min(n, (j / block + 1) * block), never);
  }

  /// Adds the bias, and sets scores of masked keys to -infinity. If the mask hides all keys that
  /// the query sees, sets their scores to 0.
  [[gnu::always_inline]] void adjust(sum* row, bool const* mask, std::int64_t low, std::int64_t n,
                                     std::int64_t h) const {
    bool sees = mask == nullptr;
    for (auto j = low; j < n && !sees; ++j) sees = mask[j] && row[j] != never;
    if (!sees) {
      for (auto j = low; j < n; ++j) row[j] = row[j] == never ? never : sum(0);
      return;
    }
    if (a.bias != nullptr) {
      auto const* const bias = a.bias + h * a.distances + a.options.distance0 - a.options.query0 - i;
      for (auto j = low; j < n; ++j) row[j] += bias[j];
    }
    if (mask != nullptr)
      for (auto j = low; j < n; ++j) row[j] = mask[j] ? row[j] : never;
  }
};

template <class T>
void run_gathered(at::Tensor const& q, gathered_keys const& seen, attention_options const& o,
                  attention_extras const& extras, at::Tensor const& out) {
  gathered_problem<T> a{.queries = q.size(1),
                        .keys = seen.indices.size(1),
                        .width = q.size(2) / o.heads,
                        .options = o,
                        .q = read_heads<T>(q),
                        .k = seen.keys.const_data_ptr<T>(),
                        .v = seen.values.const_data_ptr<T>(),
                        .k_stride = seen.keys.stride(0),
                        .v_stride = seen.values.stride(0),
                        .indices = seen.indices.const_data_ptr<std::int32_t>(),
                        .indices_stride = seen.indices.stride(0),
                        .out = out.mutable_data_ptr<T>()};
  if (o.key_mask.defined()) a.mask = o.key_mask.const_data_ptr<bool>(), a.mask_stride = o.key_mask.stride(0);
  if (extras.bias.defined()) a.bias = extras.bias.const_data_ptr<sum_of<T>>(), a.distances = extras.bias.size(1);
  if (extras.sinks.defined()) a.sinks = extras.sinks.const_data_ptr<sum_of<T>>();
  // A part covers whole key-value heads; if there are few rows, heads are split over threads too.
  std::int64_t const tasks = q.size(0) * q.size(1);
  std::int64_t const parts = std::min(o.kv_heads, std::max<std::int64_t>(1, 4 / tasks));
  tensors::parallel(tasks * parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto task = begin; task < end; ++task) {
      std::int64_t const row = task / parts, part = task % parts, group = a.group();
      std::int64_t const h0 = o.kv_heads * part / parts * group, h1 = o.kv_heads * (part + 1) / parts * group;
      with_lanes<T>(gathered_task<T>{a, row / a.queries, row % a.queries, h0, h1 - h0});
    }
  });
}

inline at::Tensor gathered_attention(at::Tensor const& q_any, gathered_keys const& seen, attention_options const& o) {
  at::Tensor const q = detail::with_dense_rows(q_any);
  at::Tensor const out = at::empty({q.size(0), q.size(1), q.size(2)}, q.options());
  attention_extras const extras{in_sum_type(o.bias, q.scalar_type()), in_sum_type(o.sinks, q.scalar_type())};
  with_element(q.scalar_type(), [&](auto element) { run_gathered<decltype(element)>(q, seen, o, extras, out); });
  return out;
}

}  // namespace redco::kernel::cpu
