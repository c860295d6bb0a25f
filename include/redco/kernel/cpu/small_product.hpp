#pragma once

#include <redco/kernel/cpu/lanes.hpp>
#include <redco/kernel/cpu/scratch.hpp>
#include <redco/tensor/process_choice.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace redco::kernel::cpu {

inline std::atomic<std::int64_t>& small_work_cell() {
  static std::atomic<std::int64_t> most = std::int64_t{1} << 20;
  return most;
}

/// Returns the largest number of multiplications for which a matrix product is small. One thread
/// computes such a product before other threads would wake up. Operator dispatch, autograd nodes
/// and allocations take longer than its arithmetic.
inline std::int64_t small_work() { return small_work_cell().load(std::memory_order_relaxed); }

/// A scope that sets another limit of small_work() for all threads, for tests. 0 means that no
/// product is small. The destructor restores the previous limit.
class forced_small_work : tensors::forced<std::int64_t> {
 public:
  explicit forced_small_work(std::int64_t most) : forced(small_work_cell(), most) {}
};

/// A view of a matrix whose element (i, j) is data[i * row + j * column]. Either `row` or `column`
/// is 1.
template <class T>
struct stepped_matrix {
  T const* data;
  std::int64_t row, column;

  stepped_matrix turned() const { return {data, column, row}; }
};

/// Initial value of each element of a product c, to which the products of elements are added: 0,
/// the bias of its column, or the old value of c.
enum class product_start : unsigned char { zero, bias, sum };

/// A product of small matrices, computed on the calling thread: c [m, n] = start + a [m, k] b [k,
/// n]. c is row-major and contiguous. The order of summation depends only on k, and on whether n is
/// less than `few_columns`.
template <class T>
struct small_product {
  static constexpr std::int64_t few_columns = 8;

  std::int64_t m, n, k;
  stepped_matrix<T> a, b;
  T* c;
  product_start start = product_start::zero;
  T const* bias = nullptr;  ///< bias [n] per column, read only if `start` is `bias`

  void run() const {
    if (n >= few_columns) return with_rows_of_b();
    if (a.column == 1) return with_columns_of_b();
    turned();
  }

  /// Copies b, whose rows are not contiguous, to row-major scratch memory and returns a view of the
  /// copy.
  static stepped_matrix<T> packed(stepped_matrix<T> const& b, std::int64_t rows, std::int64_t columns) {
    T* const copy = scratch<T, 30>(rows * columns);
    constexpr std::int64_t at_once = 16;  // elements of a cache line
    for (std::int64_t first = 0; first < columns; first += at_once)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = first; j < std::min(first + at_once, columns); ++j)
          copy[i * columns + j] = b.data[i * b.row + j * b.column];
    return {copy, columns, 1};
  }

  /// Computes the product with vectors of W f32 or W / 2 f64 elements.
  template <int W>
  [[gnu::always_inline]] void operator()() const {
    constexpr int lanes = W * static_cast<int>(sizeof(float)) / static_cast<int>(sizeof(T));
    if (b.column == 1) {
      std::int64_t j = 0;
      for (; j + 2 * lanes <= n; j += 2 * lanes) all_rows<lanes, 2>(j);
      remaining_columns<lanes>(j);
    } else {
      for (std::int64_t j = 0; j < n; ++j) dots<lanes>(j);
    }
  }

 private:
  template <int L>
  struct vector {
    typedef T type __attribute__((vector_size(L * sizeof(T))));
  };

  void with_rows_of_b() const {
    small_product all = *this;
    if (b.column != 1) all.b = packed(b, k, n);
    with_lanes<float>(all);
  }

  /// Computes the product if b has few columns, as dot products of the columns of b with the rows
  /// of a.
  void with_columns_of_b() const {
    small_product all = *this;
    if (b.row != 1 || b.column == 1) all.b = packed(b.turned(), n, k).turned();
    with_lanes<float>(all);
  }

  /// Computes the product if b has few columns and the columns of a are contiguous. Computes the
  /// transpose c^T = b^T a^T and copies it to c.
  void turned() const {
    T* const columns = scratch<T, 31>(m * n);
    small_product all{n, m, k, b.turned(), a.turned(), columns};
    with_lanes<float>(all);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) c[i * n + j] = first(i, j) + columns[j * m + i];
  }

  T first(std::int64_t i, std::int64_t j) const {
    return start == product_start::zero ? T(0) : start == product_start::bias ? bias[j] : c[i * n + j];
  }

  template <int L>
  [[gnu::always_inline]] void remaining_columns(std::int64_t j) const {
    for (; j + L <= n; j += L) all_rows<L, 1>(j);
    if constexpr (L > 1) remaining_columns<L / 2>(j);
  }

  template <int L, std::size_t V>
  [[gnu::always_inline]] void all_rows(std::int64_t j) const {
    std::int64_t i = 0;
    for (; i + 6 <= m; i += 6) tile<L, V>(i, j, std::make_index_sequence<6>{});
    switch (m - i) {
      case 5: tile<L, V>(i, j, std::make_index_sequence<5>{}); break;
      case 4: tile<L, V>(i, j, std::make_index_sequence<4>{}); break;
      case 3: tile<L, V>(i, j, std::make_index_sequence<3>{}); break;
      case 2: tile<L, V>(i, j, std::make_index_sequence<2>{}); break;
      case 1: tile<L, V>(i, j, std::make_index_sequence<1>{}); break;
      default: break;
    }
  }

  /// Computes a tile of c, some rows by one or two vectors of columns. The sums stay in registers.
  template <int L, std::size_t V, std::size_t... Row>
  [[gnu::always_inline]] void tile(std::int64_t i, std::int64_t j, std::index_sequence<Row...>) const {
    using real = typename vector<L>::type;
    constexpr std::int64_t second = V > 1 ? L : 0;
    real left[sizeof...(Row)] = {}, right[sizeof...(Row)] = {}, u, v;
    auto const begin = [&](real & sum, std::int64_t row, std::int64_t column) __attribute__((always_inline)) {
      if (start == product_start::bias) std::memcpy(&sum, bias + column, sizeof sum);
      if (start == product_start::sum) std::memcpy(&sum, c + row * n + column, sizeof sum);
    };
    if (start != product_start::zero)
      (static_cast<void>((begin(left[Row], i + static_cast<std::int64_t>(Row), j),
                          begin(right[Row], i + static_cast<std::int64_t>(Row), j + second))),
       ...);
    T const* of_a = a.data + i * a.row;
    T const* of_b = b.data + j;
    for (std::int64_t l = 0; l < k; ++l, of_a += a.column, of_b += b.row) {
      std::memcpy(&u, of_b, sizeof u);
      if constexpr (V > 1) std::memcpy(&v, of_b + L, sizeof v);
      (static_cast<void>((left[Row] += u * of_a[static_cast<std::int64_t>(Row) * a.row],
                          V > 1 ? (right[Row] += v * of_a[static_cast<std::int64_t>(Row) * a.row], 0) : 0)),
       ...);
    }
    (std::memcpy(c + (i + static_cast<std::int64_t>(Row)) * n + j, &left[Row], sizeof(real)), ...);
    if constexpr (V > 1)
      (std::memcpy(c + (i + static_cast<std::int64_t>(Row)) * n + j + L, &right[Row], sizeof(real)), ...);
  }

  /// Computes column j of c by dot products, four rows at a time.
  template <int L>
  [[gnu::always_inline]] void dots(std::int64_t j) const {
    std::int64_t i = 0;
    for (; i + 4 <= m; i += 4) dot<L>(i, j, std::make_index_sequence<4>{});
    for (; i < m; ++i) dot<L>(i, j, std::make_index_sequence<1>{});
  }

  template <int L, std::size_t... Row>
  [[gnu::always_inline]] void dot(std::int64_t i, std::int64_t j, std::index_sequence<Row...>) const {
    using real = typename vector<L>::type;
    T const* const of_a = a.data + i * a.row;
    T const* const of_b = b.data + j * b.column;
    real sum[sizeof...(Row)] = {}, u, v;
    std::int64_t l = 0;
    for (; l + L <= k; l += L) {
      std::memcpy(&u, of_b + l, sizeof u);
      (static_cast<void>(
           (std::memcpy(&v, of_a + static_cast<std::int64_t>(Row) * a.row + l, sizeof v), sum[Row] += u * v)),
       ...);
    }
    T whole[sizeof...(Row)] = {};
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(L); ++lane)
      (static_cast<void>(whole[Row] += sum[Row][lane]), ...);
    for (; l < k; ++l)
      (static_cast<void>(whole[Row] += of_b[l] * of_a[static_cast<std::int64_t>(Row) * a.row + l]), ...);
    (static_cast<void>(c[(i + static_cast<std::int64_t>(Row)) * n + j] =
                           first(i + static_cast<std::int64_t>(Row), j) + whole[Row]),
     ...);
  }
};

}  // namespace redco::kernel::cpu
