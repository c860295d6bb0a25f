#pragma once

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

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

}  // namespace redco::comm::detail
