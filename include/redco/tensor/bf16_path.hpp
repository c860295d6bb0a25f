#pragma once

#include <redco/shape/multiplies_bf16.hpp>

#include <redco/diag/error.hpp>

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

namespace redco {

/// Who multiplies matrices of bf16 on a CPU. All sum in f32 and round once.
enum class bf16_path : unsigned char {
  onednn,  ///< oneDNN, and MKL for results in f32: the fastest with AMX
  packed,  ///< our own, over packed pairs: the fastest with AVX512-bf16, where MKL is as slow as in f32
  blas     ///< MKL: the fastest without instructions for bf16
};

constexpr std::string_view name_of(bf16_path path) {
  return path == bf16_path::onednn ? "onednn" : path == bf16_path::packed ? "packed" : "blas";
}

/// The fastest on a CPU with these instructions.
constexpr bf16_path fastest_bf16_path(bf16_instructions cpu) {
  return cpu == bf16_instructions::amx      ? bf16_path::onednn
         : cpu == bf16_instructions::avx512 ? bf16_path::packed
                                            : bf16_path::blas;
}

/// The path of a value of the environment's REDCO_BF16_PRODUCTS, the CPU's fastest where it is null or empty.
/// Errors: exit code 64 for any other word than a path's name.
inline bf16_path bf16_path_of(char const* wanted, bf16_instructions cpu) {
  if (wanted == nullptr || *wanted == 0) return fastest_bf16_path(cpu);
  for (bf16_path const path : {bf16_path::onednn, bf16_path::packed, bf16_path::blas})
    if (name_of(path) == wanted) return path;
  throw error(exit_code::usage, "REDCO_BF16_PRODUCTS is \"" + std::string(wanted) +
                                    "\" in the environment: give onednn, packed or blas, or unset it");
}

namespace detail {

inline std::atomic<bf16_path>& bf16_path_cell() {
  static std::atomic<bf16_path> path = bf16_path_of(std::getenv("REDCO_BF16_PRODUCTS"), cpu_bf16_instructions());
  return path;
}

}  // namespace detail

/// The path that all products of this process take. Errors: as bf16_path_of, in the first call.
inline bf16_path bf16_path_in_use() { return detail::bf16_path_cell().load(std::memory_order_relaxed); }

/// Another path while it lives, for all threads.
class forced_bf16_path {
 public:
  explicit forced_bf16_path(bf16_path path) : before_(detail::bf16_path_cell().exchange(path)) {}
  ~forced_bf16_path() { detail::bf16_path_cell().store(before_); }
  forced_bf16_path(forced_bf16_path const&) = delete;
  forced_bf16_path& operator=(forced_bf16_path const&) = delete;

 private:
  bf16_path before_;
};

}  // namespace redco
