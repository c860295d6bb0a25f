#pragma once

#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace redco::comm::detail {

/// A set of functions that load and store vectors of 64 bytes, for sums over elements of type T.
/// Functions take vectors by reference only, because the calling convention for vectors by value
/// depends on the caller's instruction set.
template <class T>
struct lanes {
  using vec __attribute__((vector_size(64))) = T;
  static constexpr std::size_t count = 64 / sizeof(T);

  [[gnu::always_inline]] static inline void load(vec& to, T const* from) { std::memcpy(&to, from, sizeof(vec)); }
  [[gnu::always_inline]] static inline void store(T* to, vec const& from) { std::memcpy(to, &from, sizeof(vec)); }
};

/// A set of functions that load 16 bf16 elements into an f32 vector and store them again. A bf16 is
/// the upper half of an f32. Storing rounds to nearest, ties to even, and keeps NaN.
template <>
struct lanes<c10::BFloat16> {
  using vec __attribute__((vector_size(64))) = float;
  using bits __attribute__((vector_size(64))) = std::uint32_t;
  using half __attribute__((vector_size(32))) = std::uint16_t;
  static constexpr std::size_t count = 16;

  [[gnu::always_inline]] static inline void load(vec& to, c10::BFloat16 const* from) {
    half narrow;
    std::memcpy(&narrow, from, sizeof(narrow));
    bits const wide = __builtin_convertvector(narrow, bits) << 16;
    std::memcpy(&to, &wide, sizeof(to));
  }
  [[gnu::always_inline]] static inline void store(c10::BFloat16* to, vec const& from) {
    bits wide;
    std::memcpy(&wide, &from, sizeof(wide));
    bits const rounded = (wide + 0x7fffu + ((wide >> 16) & 1u)) >> 16;
    bits const nan = bits{} + 0x7fc0u;
    half const narrow = __builtin_convertvector((from == from) ? rounded : nan, half);
    std::memcpy(static_cast<void*>(to), &narrow, sizeof(narrow));
  }
};

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

/// Returns the reduction of the tensors `all` in their order, on the device and in the dtype of
/// `like`, by ATen's operators. The result is bit-equal to the result of reduction_of(): 16-bit
/// floats are reduced in f32 and rounded once.
inline at::Tensor reduced_in_order(std::vector<at::Tensor> const& all, reduce_op op, at::Tensor const& like) {
  at::ScalarType const type = like.scalar_type();
  at::ScalarType const wide = type == at::kBFloat16 || type == at::kHalf ? at::kFloat : type;
  at::Tensor joint = all.front().to(like.device(), wide);
  for (std::size_t i = 1; i < all.size(); ++i) {
    at::Tensor const next = all[i].to(like.device(), wide);
    joint = op == reduce_op::sum   ? at::add(joint, next)
            : op == reduce_op::max ? at::maximum(joint, next)
                                   : at::minimum(joint, next);
  }
  return joint.to(type);
}

}  // namespace redco::comm::detail
