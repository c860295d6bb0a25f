#pragma once

#include <redco/kernel/cpu/attention_problem.hpp>
#include <redco/kernel/cpu/attention_rows.hpp>
#include <redco/kernel/cpu/product.hpp>
#include <redco/kernel/cpu/scratch.hpp>
#include <redco/kernel/cpu/sparse_tile.hpp>
#include <redco/layer/block_pattern.hpp>
#include <redco/random/random_words.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

namespace redco::kernel::cpu {

/// A walk over the tiles of one head of attention with a pattern of blocks, in the order of the
/// queries. Global blocks are copied when the windows have passed them, so that products with them
/// have contiguous operands. All products are of live blocks.
template <class T>
class sparse_walk {
 public:
  using sum = sum_of<T>;

  sparse_walk(attention_problem<T> const& a, std::int64_t b, std::int64_t h)
      : a_(a),
        pattern_(a.options.pattern),
        b_(b),
        h_(h),
        head_(a.options.head0 + h),
        stop_(a.options.query0 + a.queries) {
    tile_.end = a.options.query0;
    far_keys_ = scratch<T, 13>(far_room()), far_values_ = scratch<T, 14>(far_room());
    far_ = scratch<std::int64_t, 15>(far_room() / a.width / pattern_.block);
    is_plain_ = a.bias == nullptr && a.mask == nullptr && a.documents == nullptr && a.options.window == 0;
  }
  ~sparse_walk() { touched_blocks().fetch_add(touched_, std::memory_order_relaxed); }
  sparse_walk(sparse_walk const&) = delete;
  sparse_walk& operator=(sparse_walk const&) = delete;

  /// Returns the number of elements of the keys of all global blocks that the last query sees.
  std::int64_t far_room() const {
    return (pattern_.far_blocks(head_, (stop_ - 1) / pattern_.block)) * pattern_.block * a_.width;
  }

  /// Moves to the next tile. Returns false after the last tile.
  bool next() {
    tile_.begin = tile_.end;
    if (tile_.begin >= stop_) return false;
    auto const block = pattern_.block;
    tile_.block_begin = tile_.begin / block;
    auto const near = pattern_.near_begin(tile_.block_begin);
    for (; passed_ < near; ++passed_)
      if (pattern_.is_global(head_, passed_)) copy(passed_);
    tile_.far = far_count_ * block, tile_.base = near * block;
    tile_.block_end = tile_.block_begin + 1;
    while (tile_.block_end * block < stop_ && fits(tile_.block_end + 1) &&
           pattern_.far_blocks(head_, tile_.block_end) == far_count_)
      ++tile_.block_end;
    tile_.end = std::min(stop_, tile_.block_end * block);
    tile_.stride = padded_columns(tile_.far + tile_.end - tile_.base);
    return true;
  }

  sparse_tile const& tile() const { return tile_; }

  sparse_operand<T> keys() const { return {{a_.k.at(b_, 0, head_column()), a_.k.row_stride}, {far_keys_, a_.width}}; }
  sparse_operand<T> values() const {
    return {{a_.v.at(b_, 0, head_column()), a_.v.row_stride}, {far_values_, a_.width}};
  }

  /// Returns the number of columns up to the own position of row `r` of the tile.
  std::int64_t columns(std::int64_t r) const { return tile_.far + tile_.begin + r + 1 - tile_.base; }
  /// Returns the number of columns that the products of row `r` of the tile read.
  std::int64_t product_columns(std::int64_t r) const {
    return tile_.far + near_end((tile_.begin + r) / pattern_.block) - tile_.base;
  }

  /// Computes z = alpha x y^T for the rows x of the tile and the live blocks of y (keys or values).
  void score(matrix<T> x, sum alpha, sparse_operand<T> const& y, sum* z) {
    auto const d = a_.width, stride = tile_.stride;
    if (tile_.far > 0) {
      gemm(tile_.end - tile_.begin, tile_.far, d, alpha, x, transposed(y.far), sum(0), z, stride);
      touched_ += (tile_.block_end - tile_.block_begin) * (tile_.far / pattern_.block);
    }
    for (auto i = tile_.block_begin; i < tile_.block_end; ++i) {
      auto const r = row_begin(i), from = near_key(i);
      gemm(row_end(i) - r, near_end(i) - from, d, alpha, x.from_row(r), transposed(y.all.from_row(from)), sum(0),
           z + r * stride + near_column(from), stride);
      touched_ += i + 1 - from / pattern_.block;
    }
  }

  /// Computes to = alpha p y for the tile's rows of p and the live blocks of y (keys or values).
  void combine(T const* p, sum alpha, sparse_operand<T> const& y, sum* to, std::int64_t to_stride) const {
    auto const d = a_.width, stride = tile_.stride;
    if (tile_.far > 0)
      gemm(tile_.end - tile_.begin, d, tile_.far, alpha, matrix<T>{p, stride}, y.far, sum(0), to, to_stride);
    for (auto i = tile_.block_begin; i < tile_.block_end; ++i) {
      auto const r = row_begin(i), from = near_key(i);
      gemm(row_end(i) - r, d, near_end(i) - from, alpha, matrix<T>{p + r * stride + near_column(from), stride},
           y.all.from_row(from), static_cast<sum>(tile_.far > 0), to + r * to_stride, to_stride);
    }
  }

  /// Adds alpha p^T x to the gradients of live keys: those of global blocks to `far`, the others to
  /// `near`, which has rows of all keys.
  void accumulate(T const* p, matrix<T> x, sum alpha, sum* far, sum* near, std::int64_t near_stride) const {
    auto const d = a_.width, stride = tile_.stride, block = pattern_.block;
    if (tile_.far > 0)
      gemm(tile_.far, d, tile_.end - tile_.begin, alpha, matrix<T>{p, stride, true}, x, sum(1), far, d);
    auto last = tile_.block_end;  // the query blocks [j, last) see key block j
    for (auto j = tile_.block_end - 1; j >= tile_.base / block; --j) {
      while (pattern_.near_begin(last - 1) > j) --last;
      auto const r = row_begin(std::max(j, tile_.block_begin)), key = j * block;
      gemm(std::min(key + block, tile_.end) - key, d, row_end(last - 1) - r, alpha,
           matrix<T>{p + r * stride + near_column(key), stride, true}, x.from_row(r), sum(1), near + key * near_stride,
           near_stride);
    }
  }

  /// Adds the gradients of the copied global blocks to those of all keys. Call after the last tile.
  void add_far(key_gradients<sum> const& far, key_gradients<sum> const& near) const {
    auto const add = [&](sum const* from, sum* to, std::int64_t stride) {
      for (std::int64_t c = 0; c < far_count_ * pattern_.block; ++c) {
        sum* const row = to + (far_[c / pattern_.block] * pattern_.block + c % pattern_.block) * stride;
        for (std::int64_t e = 0; e < a_.width; ++e) row[e] += from[c * a_.width + e];
      }
    };
    add(far.dk, near.dk, near.k_stride), add(far.dv, near.dv, near.v_stride);
  }

  /// Prepares the scores of row `r` of the tile for softmax. Adds the bias, and sets the scores of
  /// columns without a visible key to -infinity. If a mask hides all keys that the query sees,
  /// returns false and sets their scores to 0.
  bool adjust(sum* z, std::int64_t r) const {
    constexpr sum never = -std::numeric_limits<sum>::infinity();
    auto const position = tile_.begin + r, i = position - a_.options.query0;
    std::fill(z + tile_.far, z + near_column(near_key(position / pattern_.block)), never);
    if (is_plain_) return true;
    auto const low = a_.lowest(b_, i);
    bool const* const mask = a_.mask == nullptr ? nullptr : a_.mask + b_ * a_.keys;
    sum const* const bias = a_.bias == nullptr ? nullptr : a_.bias + a_.bias_row(b_, h_, i);
    bool sees = mask == nullptr;
    for (std::int64_t s = 0; s <= far_count_ && !sees; ++s) {
      auto const [column, key, count] = span(s, r);
      for (auto j = std::max(key, low); j < key + count; ++j) sees = sees || mask[j];
    }
    for (std::int64_t s = 0; s <= far_count_; ++s) {
      auto const [column, key, count] = span(s, r);
      for (std::int64_t c = 0; c < count; ++c) {
        sum& x = z[column + c];
        auto const j = key + c;
        if (j < low || (sees && mask != nullptr && !mask[j])) x = never;
        else if (!sees) x = 0;
        else if (bias != nullptr) x += bias[j];
      }
    }
    return sees;
  }

  /// Writes the random words of dropout for the columns of row `r` of the tile. Returns false
  /// without dropout.
  bool draws(std::uint32_t* words, std::int64_t r) const {
    auto const& o = a_.options;
    if (o.dropout == 0) return false;
    for (std::int64_t s = 0; s <= far_count_; ++s) {
      auto const [column, key, count] = span(s, r);
      random::random_words(words + column, key, count, static_cast<std::uint32_t>(tile_.begin + r),
                           static_cast<std::uint32_t>(head_), static_cast<std::uint32_t>(o.row0 + b_), o.key);
    }
    return true;
  }

  /// Adds the gradients of the scores of row `r` of the tile to the gradient of the bias, if
  /// requested.
  void add_bias_gradient(T const* ds, std::int64_t r) const {
    if (a_.dbias == nullptr) return;
    sum* const to = a_.dbias + a_.bias_row(b_, h_, tile_.begin + r - a_.options.query0);
    for (std::int64_t s = 0; s <= far_count_; ++s) {
      auto const [column, key, count] = span(s, r);
      for (std::int64_t c = 0; c < count; ++c) to[key + c] += static_cast<sum>(ds[column + c]);
    }
  }

 private:
  /// Largest number of scores of a tile; in f32 they fit into the second-level cache.
  static constexpr std::int64_t largest_tile = 98304;

  std::int64_t head_column() const { return h_ / a_.group() * a_.width; }
  static matrix<T> transposed(matrix<T> x) { return {x.data, x.stride, true}; }

  /// Returns true if a tile that ends with block `end` is not too large.
  bool fits(std::int64_t end) const {
    auto const rows = (end - tile_.block_begin) * pattern_.block;
    return rows <= 128 && rows * (tile_.far + end * pattern_.block - tile_.base) <= largest_tile;
  }

  // Rows of query block `i` in the tile
  std::int64_t row_begin(std::int64_t i) const { return std::max(tile_.begin, i * pattern_.block) - tile_.begin; }
  std::int64_t row_end(std::int64_t i) const { return std::min(tile_.end, (i + 1) * pattern_.block) - tile_.begin; }
  // Keys in the near blocks of query block `i`
  std::int64_t near_key(std::int64_t i) const { return pattern_.near_begin(i) * pattern_.block; }
  std::int64_t near_end(std::int64_t i) const { return std::min(tile_.end, (i + 1) * pattern_.block); }
  std::int64_t near_column(std::int64_t key) const { return tile_.far + key - tile_.base; }

  /// Returns the run number `s` of the columns that row `r` of the tile sees. There is one for each
  /// copied block, and then that of the near keys.
  sparse_span span(std::int64_t s, std::int64_t r) const {
    auto const block = pattern_.block, position = tile_.begin + r;
    if (s < far_count_) return {s * block, far_[s] * block, block};
    auto const key = near_key(position / block);
    return {near_column(key), key, position + 1 - key};
  }

  void copy(std::int64_t block) {
    auto const tokens = pattern_.block, d = a_.width, to = far_count_ * tokens * d;
    for (std::int64_t t = 0; t < tokens; ++t) {
      std::copy_n(a_.k.at(b_, block * tokens + t, head_column()), d, far_keys_ + to + t * d);
      std::copy_n(a_.v.at(b_, block * tokens + t, head_column()), d, far_values_ + to + t * d);
    }
    far_[far_count_++] = block;
  }

  attention_problem<T> const& a_;
  layers::block_pattern const pattern_;
  std::int64_t b_, h_, head_;
  std::int64_t stop_;  // position after the last query
  sparse_tile tile_;
  std::int64_t passed_ = 0;  // blocks before the tile's windows, whose global blocks are copied
  std::int64_t far_count_ = 0, touched_ = 0;
  T *far_keys_ = nullptr, *far_values_ = nullptr;
  std::int64_t* far_ = nullptr;  // copied blocks
  bool is_plain_ = true;         // true without bias, mask, documents and window
};

}  // namespace redco::kernel::cpu
