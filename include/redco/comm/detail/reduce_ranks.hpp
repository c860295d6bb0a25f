#pragma once

#include <redco/comm/detail/lanes.hpp>
#include <redco/comm/reduce_op.hpp>

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace redco::detail {

/// Elements [from, from + count) of `sources` are reduced in the order of the array into elements [to, to + count) of
/// every one of `targets`. A target may be a source if from == to.
struct reduction {
  void const* const* sources;
  std::size_t source_count;
  std::size_t from;
  void* const* targets;
  std::size_t target_count;
  std::size_t to;
  std::size_t count;
};

template <reduce_op Op, class Vec>
[[gnu::always_inline]] inline void join(Vec& left, Vec const& right) {
  if constexpr (Op == reduce_op::sum) {
    left = left + right;
  } else if constexpr (Op == reduce_op::max) {
    left = ((left > right) | (left != left)) ? left : right;  // NaN wins
  } else {
    left = ((left < right) | (left != left)) ? left : right;
  }
}

template <class T, reduce_op Op>
[[gnu::always_inline]] inline void reduce_all(reduction const& work) {
  using lane = lanes<T>;
  constexpr std::size_t width = lane::count;
  constexpr std::size_t unrolled = 4;  // independent loads in flight hide the latency of a peer's cache
  auto const source = [&](std::size_t rank) { return static_cast<T const*>(work.sources[rank]) + work.from; };
  auto const target = [&](std::size_t rank) { return static_cast<T*>(work.targets[rank]) + work.to; };
  std::size_t at = 0;
  for (; at + unrolled * width <= work.count; at += unrolled * width) {
    typename lane::vec a, b, c, d, next;  // named, so that they stay in registers
    lane::load(a, source(0) + at);
    lane::load(b, source(0) + at + width);
    lane::load(c, source(0) + at + 2 * width);
    lane::load(d, source(0) + at + 3 * width);
    for (std::size_t rank = 1; rank < work.source_count; ++rank) {
      T const* const from = source(rank) + at;
      lane::load(next, from);
      join<Op>(a, next);
      lane::load(next, from + width);
      join<Op>(b, next);
      lane::load(next, from + 2 * width);
      join<Op>(c, next);
      lane::load(next, from + 3 * width);
      join<Op>(d, next);
    }
    for (std::size_t rank = 0; rank < work.target_count; ++rank) {
      T* const to = target(rank) + at;
      lane::store(to, a);
      lane::store(to + width, b);
      lane::store(to + 2 * width, c);
      lane::store(to + 3 * width, d);
    }
  }
  while (at < work.count) {
    std::size_t const rest = work.count - at < width ? work.count - at : width;
    T padded[width] = {};
    typename lane::vec sum, next;
    std::memcpy(static_cast<void*>(padded), source(0) + at, rest * sizeof(T));
    lane::load(sum, padded);
    for (std::size_t rank = 1; rank < work.source_count; ++rank) {
      std::memcpy(static_cast<void*>(padded), source(rank) + at, rest * sizeof(T));
      lane::load(next, padded);
      join<Op>(sum, next);
    }
    lane::store(padded, sum);
    for (std::size_t rank = 0; rank < work.target_count; ++rank) {
      std::memcpy(static_cast<void*>(target(rank) + at), padded, rest * sizeof(T));
    }
    at += rest;
  }
}

#if defined(__x86_64__)
template <class T, reduce_op Op>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512dq")]] void reduce_avx512(reduction const& work) {
  reduce_all<T, Op>(work);
}
template <class T, reduce_op Op>
[[gnu::target("avx2")]] void reduce_avx2(reduction const& work) {
  reduce_all<T, Op>(work);
}
#endif
template <class T, reduce_op Op>
void reduce_plain(reduction const& work) {
  reduce_all<T, Op>(work);
}

using reduce_function = void (*)(reduction const&);

/// The widest version that this machine runs. All give the same bits.
template <class T, reduce_op Op>
reduce_function best_reduction() {
#if defined(__x86_64__)
  static bool const wide = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512f");
  static bool const medium = __builtin_cpu_supports("avx2");
  if (wide) return reduce_avx512<T, Op>;
  if (medium) return reduce_avx2<T, Op>;
#endif
  return reduce_plain<T, Op>;
}

template <class T>
reduce_function best_reduction(reduce_op op) {
  switch (op) {
    case reduce_op::sum: return best_reduction<T, reduce_op::sum>();
    case reduce_op::max: return best_reduction<T, reduce_op::max>();
    case reduce_op::min: return best_reduction<T, reduce_op::min>();
  }
  return nullptr;
}

/// The reduction of this dtype, or nullptr if none is defined for it.
inline reduce_function reduction_of(at::ScalarType type, reduce_op op) {
  switch (type) {
    case at::kDouble: return best_reduction<double>(op);
    case at::kFloat: return best_reduction<float>(op);
    case at::kBFloat16: return best_reduction<c10::BFloat16>(op);
    case at::kHalf: return best_reduction<c10::Half>(op);
    case at::kLong: return best_reduction<std::int64_t>(op);
    case at::kInt: return best_reduction<std::int32_t>(op);
    case at::kByte: return best_reduction<std::uint8_t>(op);
    default: return nullptr;
  }
}

}  // namespace redco::detail
