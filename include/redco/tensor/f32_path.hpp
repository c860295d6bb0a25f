#pragma once

#include <redco/tensor/process_choice.hpp>
#include <redco/meta/enum_texts.hpp>

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace redco::tensors {

/// An implementation of large f32 matrix products on CPUs.
enum class f32_path : unsigned char {
  blas,   ///< MKL, by ATen
  packed  ///< redco's own kernel: the fastest on AMD's CPUs with AVX-512
};

inline constexpr auto f32_path_texts = meta::enum_texts<f32_path>({
    {f32_path::blas, "blas"},
    {f32_path::packed, "packed"},
});

constexpr std::string_view name_of(f32_path path) { return f32_path_texts.text_of(path); }

/// Returns the fastest implementation of large f32 matrix products on this CPU.
inline f32_path fastest_f32_path() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_is("amd") && __builtin_cpu_supports("avx512f")) return f32_path::packed;
#endif
  return f32_path::blas;
}

/// Returns the implementation of large f32 matrix products that `wanted` names. `wanted` is the
/// value of the environment variable REDCO_F32_PRODUCTS; if it is null or empty, returns `fastest`.
/// Throws `error` with exit code 64 if `wanted` names no implementation.
inline f32_path f32_path_of(char const* wanted, f32_path fastest) {
  return named_choice("REDCO_F32_PRODUCTS", wanted, fastest, f32_path_texts, "blas or packed");
}

}  // namespace redco::tensors

namespace redco::tensors::detail {

inline std::atomic<f32_path>& f32_path_cell() {
  static std::atomic<f32_path> path = f32_path_of(std::getenv("REDCO_F32_PRODUCTS"), fastest_f32_path());
  return path;
}

}  // namespace redco::tensors::detail

namespace redco::tensors {

/// Returns the implementation that all large f32 matrix products of this process use. The first
/// call reads the environment variable REDCO_F32_PRODUCTS. Throws `error` with exit code 64 if its
/// value is invalid.
inline f32_path f32_path_in_use() { return detail::f32_path_cell().load(std::memory_order_relaxed); }

/// A scope that selects another implementation of large f32 matrix products for all threads of the
/// process. The destructor restores the previous one. Used by tests and benchmarks.
class forced_f32_path : forced<f32_path> {
 public:
  explicit forced_f32_path(f32_path path) : forced(detail::f32_path_cell(), path) {}
};

}  // namespace redco::tensors
