#pragma once

#include <redco/kernel/attention_options.hpp>
#include <redco/kernel/cpu/attention_rows.hpp>

#include <redco/random/random_words.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace redco::kernel::cpu {

/// Unit of the first key of a block of scores: the rows of a panel of keys (attention_panels.hpp).
inline constexpr std::int64_t key_panel = 32;

/// Type in which sums of products of elements of type T are computed: double for double, else
/// float.
template <class T>
using sum_of = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Returns log(1 + exp(x)) without overflow.
template <class Sum>
Sum log_of_one_more(Sum x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

/// A view of a tensor [B, rows, heads * D], or of some of its columns. The last dimension is
/// contiguous.
template <class T>
struct head_view {
  T* data = nullptr;
  std::int64_t batch_stride = 0;
  std::int64_t row_stride = 0;

  T* at(std::int64_t b, std::int64_t row, std::int64_t column) const {
    return data + b * batch_stride + row * row_stride + column;
  }
};

/// Pointers and sizes of one attention call. The gradient pointers are null in forward.
template <class T>
struct attention_problem {
  using sum = sum_of<T>;

  std::int64_t batch, queries, keys, width;  // width: elements per head
  attention_options const& options;
  head_view<T const> q, k, v;
  head_view<T> out;
  sum* lse;
  bool const* mask = nullptr;               // [B, S]
  bool const* blind = nullptr;              // [B, H, T]: queries of a partial call without any key
  std::int64_t const* documents = nullptr;  // [B, T]: positions of the queries in their documents
  sum const* bias = nullptr;                // [1 or B, H, T, S], or [H, distances]
  bool bias_shared = false;                 // true: all examples share one bias
  std::int64_t distances = 0;               // bias columns if the bias is by distance, else 0
  sum const* sinks = nullptr;               // [H]
  head_view<T const> grad = {};
  head_view<T> dq = {}, dk = {}, dv = {};
  sum* dbias = nullptr;
  sum* dsinks = nullptr;  // [B, H]

  std::int64_t heads() const { return options.heads; }
  std::int64_t group() const { return options.heads / options.kv_heads; }
  std::int64_t stride() const { return padded_columns(keys); }
  /// Returns true if the call computes the scores of live blocks of a pattern only.
  bool walks_blocks() const { return options.pattern.is_sparse() && !options.partial; }

  sum scale() const { return static_cast<sum>(options.scale_of(width)); }
  sum soft_cap() const { return static_cast<sum>(options.soft_cap); }

  std::int64_t row_of(std::int64_t b, std::int64_t h, std::int64_t i) const { return (b * heads() + h) * queries + i; }

  /// Ends the softmax of query `i`, head `h`, example `b`, whose exponentials exp(z - top) have the
  /// sum `total`. Stores the log-sum-exp, the sink included, and returns the factor that makes
  /// outputs of the weighted sum of values: 1 / total, times sigmoid(log-sum-exp - sink).
  sum end_row(std::int64_t b, std::int64_t h, std::int64_t i, sum top, sum total) const {
    sum const all = top + std::log(total), factor = 1 / total;
    sum const more = sinks == nullptr ? sum(0) : log_of_one_more(sinks[h] - all);
    lse[row_of(b, h, i)] = all + more;
    return sinks == nullptr ? factor : factor * std::exp(-more);
  }

  /// Adds the gradient of the sink of query `i`, head `h`, example `b`, if requested. `delta`:
  /// product of the output and its gradient.
  void add_sink_gradient(std::int64_t b, std::int64_t h, std::int64_t i, sum delta) const {
    if (dsinks != nullptr) dsinks[b * heads() + h] -= std::exp(sinks[h] - lse[row_of(b, h, i)]) * delta;
  }

  /// Returns the number of keys that the causal rule alone allows to query `i`. Ignores the key
  /// mask and the window.
  std::int64_t visible(std::int64_t i) const { return options.causal ? std::min(keys, options.query0 + i + 1) : keys; }

  /// Returns the index of the first key within the window and the document of query `i` of example
  /// `b`.
  std::int64_t lowest(std::int64_t b, std::int64_t i) const {
    std::int64_t const position = options.query0 + i;
    std::int64_t const start = documents != nullptr ? position - documents[b * queries + i] : 0;
    return std::max<std::int64_t>(options.window > 0 ? std::max(start, position + 1 - options.window) : start, 0);
  }

  /// Returns a lower bound of the keys that query `i` of example `b` and later queries see, as a
  /// multiple of `key_panel`. Blocks of scores begin there.
  std::int64_t first_column(std::int64_t b, std::int64_t i) const {
    return std::min(lowest(b, i), keys - 1) / key_panel * key_panel;
  }

  /// Returns the offset in the bias of the row for example `b`, head `h` and query `i`, such that
  /// key j is at the offset plus j. Holds for a full bias and for a bias given per distance.
  std::int64_t bias_row(std::int64_t b, std::int64_t h, std::int64_t i) const {
    if (distances > 0) return h * distances + options.distance0 - options.query0 - i;
    return (((bias_shared ? 0 : b) * heads() + h) * queries + i) * keys;
  }

  /// Returns the index of the first unmasked key of example `b`, starting at key `from`. Returns
  /// the number of keys if there is none.
  std::int64_t first_key(std::int64_t b, std::int64_t from) const {
    if (mask == nullptr) return from;
    auto const* const row = mask + b * keys;
    return std::find(row + from, row + keys, true) - row;
  }

  /// Returns true if query `i`, head `h`, example `b`, which sees no key of this call, sees keys
  /// that the call does not have.
  bool sees_elsewhere(std::int64_t b, std::int64_t h, std::int64_t i) const {
    return options.partial && (blind == nullptr || !blind[row_of(b, h, i)]);
  }

  /// Ends the softmax of a row of a partial call if all its inputs z[0, n) are -infinity. Sets
  /// `count` probabilities `p`, and the factor `end` of the output, to 0. Sets the log-sum-exp to
  /// -infinity. Returns false for other rows.
  bool skip_row(std::int64_t row, sum const* z, std::int64_t n, T* p, std::int64_t count, sum& end) const {
    constexpr sum never = -std::numeric_limits<sum>::infinity();
    if (!options.partial || std::any_of(z, z + n, [](sum one) { return one != never; })) return false;
    std::fill_n(p, count, T(0));
    lse[row] = never, end = 0;
    return true;
  }

  /// Calls f(begin, end, live) for each run of the keys [low, n) within a block of the pattern.
  /// `live`: true if query `i` of head `h` sees the block.
  template <class F>
  void for_blocks(std::int64_t h, std::int64_t i, std::int64_t low, std::int64_t n, F const& f) const {
    auto const& pattern = options.pattern;
    std::int64_t const own = (options.key0 + options.query0 + i) / pattern.block;
    for (std::int64_t j = low, end; j < n; j = end) {
      std::int64_t const other = (options.key0 + j) / pattern.block;
      end = std::min(n, (other + 1) * pattern.block - options.key0);
      f(j, end, pattern.has(options.head0 + h, own, other));
    }
  }

  /// Returns true if query `i`, head `h`, example `b` sees one of the keys [low, n).
  bool sees_key(std::int64_t low, std::int64_t n, std::int64_t b, std::int64_t h, std::int64_t i) const {
    if (!options.pattern.is_sparse()) return first_key(b, low) < n;
    bool sees = false;
    for_blocks(h, i, low, n, [&](std::int64_t begin, std::int64_t end, bool live) {
      sees = sees || (live && first_key(b, begin) < end);
    });
    return sees;
  }

  /// Prepares the scores z[first, n) of query `i`, head `h`, example `b` for softmax. Adds the
  /// bias, and sets the scores of hidden keys to -infinity. If the query sees no key, returns false
  /// and sets the scores of all keys that its position allows to 0, or to -infinity if the query
  /// sees keys elsewhere.
  bool adjust(sum* z, std::int64_t first, std::int64_t n, std::int64_t b, std::int64_t h, std::int64_t i) const {
    constexpr sum never = -std::numeric_limits<sum>::infinity();
    std::int64_t const low = std::min(lowest(b, i), n);
    bool const sees = sees_key(low, n, b, h, i);
    if (sees) {
      add_bias_and_mask(z, low, n, b, h, i);
    } else {
      std::fill(z + low, z + n, sees_elsewhere(b, h, i) ? never : sum(0));
    }
    std::fill(z + first, z + low, never);
    if (options.pattern.is_sparse())
      for_blocks(h, i, low, n, [&](std::int64_t begin, std::int64_t end, bool live) {
        if (!live) std::fill(z + begin, z + end, never);
      });
    return sees;
  }

  void add_bias_and_mask(sum* z, std::int64_t low, std::int64_t n, std::int64_t b, std::int64_t h,
                         std::int64_t i) const {
    if (bias != nullptr) {
      auto const* const row = bias + bias_row(b, h, i);
      for (std::int64_t j = low; j < n; ++j) z[j] += row[j];
    }
    if (mask != nullptr) {
      auto const* const row = mask + b * keys;
      for (std::int64_t j = low; j < n; ++j) z[j] = row[j] ? z[j] : -std::numeric_limits<sum>::infinity();
    }
  }
};

/// Returns the dropout factors (0 or 1 / (1 - dropout)) for `n` keys of query `i`, head `h`,
/// example `b`. Returns null without dropout. The buffers `words` and `factors` must hold
/// a.stride() elements each.
template <int W, class T>
[[gnu::always_inline]] inline sum_of<T> const* keep_factors(attention_problem<T> const& a, std::uint32_t* words,
                                                            sum_of<T>* factors, std::int64_t n, std::int64_t b,
                                                            std::int64_t h, std::int64_t i) {
  auto const& o = a.options;
  if (o.dropout == 0) return nullptr;
  random::random_words(words, o.key0, n, static_cast<std::uint32_t>(o.key0 + o.query0 + i),
                       static_cast<std::uint32_t>(o.head0 + h), static_cast<std::uint32_t>(o.row0 + b), o.key);
  threshold_lanes<W>(words, n, o.dropped_below(), static_cast<sum_of<T>>(1 / (1 - o.dropout)), factors);
  return factors;
}

/// Returns the number of query rows per block of scores against `keys` keys. A block takes about
/// 256 KiB in f32, so that it stays in the second-level cache.
constexpr std::int64_t query_rows(std::int64_t keys) {
  return std::clamp<std::int64_t>(65536 / padded_columns(std::max<std::int64_t>(keys, 1)), 16, 64);
}

}  // namespace redco::kernel::cpu
