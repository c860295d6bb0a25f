#pragma once

#include <redco/comm/detail/lanes.hpp>
#include <redco/comm/reduce_op.hpp>

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace redco::comm::detail {

/// Arguments of a reduction over ranks. Elements `[from, from + count)` of all `sources` are
/// reduced in the order of the sources. The result is written to elements `[to, to + count)` of
/// every target. A target may be a source if `from == to`.
struct reduction {
  void const* const* sources;
  std::size_t source_count;
  std::size_t from;
  void* const* targets;
  std::size_t target_count;
  std::size_t to;
  std::size_t count;
};

/// Combines two elements by `op`: `left`, the result over the previous ranks, and `right`, the
/// element of the next rank.
template <class T>
T joined(reduce_op op, T left, T right) {
  if (op == reduce_op::sum) return static_cast<T>(left + right);
  if (left != left) return left;  // NaN wins
  if (op == reduce_op::max) return left > right ? left : right;
  return left < right ? left : right;
}

/// Performs the reduction `work` for any operation and dtype, in blocks of 256 elements. Reduces
/// 16-bit floats in f32.
template <class T>
void reduce_plain(reduction const& work, reduce_op op) {
  constexpr bool narrow = std::is_same_v<T, c10::BFloat16> || std::is_same_v<T, c10::Half>;
  using sum = std::conditional_t<narrow, float, T>;
  constexpr std::size_t block = 256;
  sum joint[block];
  for (std::size_t at = 0; at < work.count; at += block) {
    std::size_t const size = work.count - at < block ? work.count - at : block;
    for (std::size_t rank = 0; rank < work.source_count; ++rank) {
      T const* const from = static_cast<T const*>(work.sources[rank]) + work.from + at;
      for (std::size_t i = 0; i < size; ++i) {
        joint[i] = rank == 0 ? static_cast<sum>(from[i]) : joined(op, joint[i], static_cast<sum>(from[i]));
      }
    }
    for (std::size_t rank = 0; rank < work.target_count; ++rank) {
      T* const to = static_cast<T*>(work.targets[rank]) + work.to + at;
      for (std::size_t i = 0; i < size; ++i) to[i] = static_cast<T>(joint[i]);
    }
  }
}

#if defined(__x86_64__)
/// Sums as many whole vectors as `work` has, four at a time. Returns the number of elements summed;
/// the caller sums the rest.
template <class T>
[[gnu::always_inline]] inline std::size_t sum_vectors(reduction const& work) {
  using lane = lanes<T>;
  constexpr std::size_t width = lane::count;
  // Independent loads in flight hide the latency of a peer's cache.
  constexpr std::size_t unrolled = 4;
  auto const source = [&](std::size_t rank) { return static_cast<T const*>(work.sources[rank]) + work.from; };
  auto const target = [&](std::size_t rank) { return static_cast<T*>(work.targets[rank]) + work.to; };
  std::size_t at = 0;
  for (; at + unrolled * width <= work.count; at += unrolled * width) {
    typename lane::vec a, b, c, d, next;  // five variables, no array: they stay in registers
    lane::load(a, source(0) + at);
    lane::load(b, source(0) + at + width);
    lane::load(c, source(0) + at + 2 * width);
    lane::load(d, source(0) + at + 3 * width);
    for (std::size_t rank = 1; rank < work.source_count; ++rank) {
      T const* const from = source(rank) + at;
      lane::load(next, from);
      a += next;
      lane::load(next, from + width);
      b += next;
      lane::load(next, from + 2 * width);
      c += next;
      lane::load(next, from + 3 * width);
      d += next;
    }
    for (std::size_t rank = 0; rank < work.target_count; ++rank) {
      T* const to = target(rank) + at;
      lane::store(to, a);
      lane::store(to + width, b);
      lane::store(to + 2 * width, c);
      lane::store(to + 3 * width, d);
    }
  }
  return at;
}

template <class T>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512dq")]] std::size_t sum_avx512(reduction const& work) {
  return sum_vectors<T>(work);
}
template <class T>
[[gnu::target("avx2")]] std::size_t sum_avx2(reduction const& work) {
  return sum_vectors<T>(work);
}

/// Sums as many whole vectors as `work` has, with the widest vectors of this CPU. Returns the
/// number of elements summed; the caller sums the rest. All versions are bit-equal to
/// reduce_plain().
template <class T>
std::size_t sum_wide(reduction const& work) {
  static bool const wide = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512f");
  static bool const medium = __builtin_cpu_supports("avx2");
  return wide ? sum_avx512<T>(work) : medium ? sum_avx2<T>(work) : 0;
}
#endif

template <class T>
void reduce_elements(reduction work, reduce_op op) {
#if defined(__x86_64__)
  // Only the dtypes of gradients and activations have vector code.
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, c10::BFloat16>) {
    if (op == reduce_op::sum) {
      std::size_t const done = sum_wide<T>(work);
      work.from += done;
      work.to += done;
      work.count -= done;
    }
  }
#endif
  reduce_plain<T>(work, op);
}

using reduce_function = void (*)(reduction, reduce_op);

/// Returns the reduction function for a dtype, or nullptr if the dtype cannot be reduced.
inline reduce_function reduction_of(at::ScalarType type) {
  switch (type) {
    case at::kDouble: return reduce_elements<double>;
    case at::kFloat: return reduce_elements<float>;
    case at::kBFloat16: return reduce_elements<c10::BFloat16>;
    case at::kHalf: return reduce_elements<c10::Half>;
    case at::kLong: return reduce_elements<std::int64_t>;
    case at::kInt: return reduce_elements<std::int32_t>;
    case at::kByte: return reduce_elements<std::uint8_t>;
    default: return nullptr;
  }
}

}  // namespace redco::comm::detail
