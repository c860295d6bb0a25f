#pragma once

#include <redco/tensor/process_choice.hpp>
#include <redco/shape/multiplies_bf16.hpp>

#include <redco/meta/enum_texts.hpp>

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace redco::tensors {

/// An implementation of bf16 matrix products on CPUs. All implementations sum in f32 and round
/// once.
enum class bf16_path : unsigned char {
  onednn,  ///< oneDNN, or MKL for products with an f32 result: the fastest on CPUs with AMX
  /// redco's own kernel, which packs pairs of bf16: the fastest on CPUs with AVX512-bf16 but no
  /// AMX. On these CPUs, MKL multiplies bf16 no faster than f32.
  packed,
  blas  ///< MKL: the fastest on CPUs without bf16 instructions
};

inline constexpr auto bf16_path_texts = meta::enum_texts<bf16_path>({
    {bf16_path::onednn, "onednn"},
    {bf16_path::packed, "packed"},
    {bf16_path::blas, "blas"},
});

constexpr std::string_view name_of(bf16_path path) { return bf16_path_texts.text_of(path); }

/// Returns the fastest implementation of bf16 matrix products for a CPU with the given
/// instructions.
constexpr bf16_path fastest_bf16_path(shape::bf16_instructions cpu) {
  return cpu == shape::bf16_instructions::amx      ? bf16_path::onednn
         : cpu == shape::bf16_instructions::avx512 ? bf16_path::packed
                                                   : bf16_path::blas;
}

/// Returns the implementation of bf16 matrix products that `wanted` names. `wanted` is the value of
/// the environment variable REDCO_BF16_PRODUCTS; if it is null or empty, returns the fastest
/// implementation for `cpu`. Throws `error` with exit code 64 if `wanted` names no implementation.
inline bf16_path bf16_path_of(char const* wanted, shape::bf16_instructions cpu) {
  return named_choice("REDCO_BF16_PRODUCTS", wanted, fastest_bf16_path(cpu), bf16_path_texts, "onednn, packed or blas");
}

}  // namespace redco::tensors

namespace redco::tensors::detail {

inline std::atomic<bf16_path>& bf16_path_cell() {
  static std::atomic<bf16_path> path = bf16_path_of(std::getenv("REDCO_BF16_PRODUCTS"), shape::cpu_bf16_instructions());
  return path;
}

}  // namespace redco::tensors::detail

namespace redco::tensors {

/// Returns the implementation that all bf16 matrix products of this process use. The first call
/// reads the environment variable REDCO_BF16_PRODUCTS. Throws `error` with exit code 64 if its
/// value is invalid.
inline bf16_path bf16_path_in_use() { return detail::bf16_path_cell().load(std::memory_order_relaxed); }

/// A scope that selects another implementation of bf16 matrix products for all threads of the
/// process. The destructor restores the previous one. Used by tests and benchmarks.
class forced_bf16_path : forced<bf16_path> {
 public:
  explicit forced_bf16_path(bf16_path path) : forced(detail::bf16_path_cell(), path) {}
};

}  // namespace redco::tensors
