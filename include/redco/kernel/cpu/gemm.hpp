#pragma once

#include <redco/kernel/cpu/gemm_matrix.hpp>
#include <redco/kernel/cpu/packed_product.hpp>
#include <redco/tensor/bf16_path.hpp>

#include <redco/tensor/torch.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

namespace redco::kernel::cpu {

template <class T, class Sum>
using blas_gemm = void (*)(char const*, char const*, int const*, int const*, int const*, Sum const*, T const*,
                           int const*, T const*, int const*, Sum const*, Sum*, int const*);

/// Returns the gemm function of the BLAS library that libtorch has loaded, or null if it has none
/// for T (bf16 is an extension of MKL). A direct call takes a microsecond less than at::mm, and
/// needs no tensors.
template <class T, class Sum>
blas_gemm<T, Sum> find_blas_gemm() {
  constexpr auto name = std::is_same_v<T, double>  ? "dgemm_"
                        : std::is_same_v<T, float> ? "sgemm_"
                                                   : "gemm_bf16bf16f32_";
  return reinterpret_cast<blas_gemm<T, Sum>>(dlsym(RTLD_DEFAULT, name));
}

/// Returns the stride between rows of a matrix, in elements. It is at least the row length, which
/// BLAS requires even for a single row.
inline std::int64_t row_step(at::Tensor const& x) { return std::max(x.stride(0), x.size(1)); }

template <class T, class Sum>
at::Tensor as_tensor(matrix<T> m, std::int64_t rows, std::int64_t columns) {
  auto const strides = m.transposed ? std::array{std::int64_t{1}, m.stride} : std::array{m.stride, std::int64_t{1}};
  return at::from_blob(const_cast<T*>(m.data), {rows, columns}, strides, c10::CppTypeToScalarType<T>::value)
      .to(c10::CppTypeToScalarType<Sum>::value);
}

/// Returns a row-major view of a 2-D tensor, or of its transpose if its columns are contiguous. One
/// stride of `x` must be 1.
template <class T>
matrix<T> matrix_of(at::Tensor const& x) {
  if (x.stride(1) == 1) return {x.const_data_ptr<T>(), row_step(x), false};
  return {x.const_data_ptr<T>(), std::max(x.stride(1), x.size(0)), true};
}

/// Returns a tensor that matrix_of can view: `x` itself, or a contiguous copy if neither rows nor
/// columns of `x` are contiguous.
inline at::Tensor with_unit_stride(at::Tensor const& x) {
  bool const rows = x.stride(1) == 1 && x.stride(0) >= x.size(1),
             columns = x.stride(0) == 1 && x.stride(1) >= x.size(0);
  return rows || columns ? x : x.contiguous();
}

/// Computes c[m, n] = alpha a[m, k] b[k, n] + beta c with BLAS. Matrices are row-major; sums have
/// the type `Sum`.
template <class T, class Sum>
void blas_gemm_call(std::int64_t m, std::int64_t n, std::int64_t k, Sum alpha, matrix<T> a, matrix<T> b, Sum beta,
                    Sum* c, std::int64_t stride) {
  static auto const blas = find_blas_gemm<T, Sum>();
  if (blas == nullptr) {
    auto out = at::from_blob(c, {m, n}, {stride, 1}, c10::CppTypeToScalarType<Sum>::value);
    if (beta == 0) out.zero_();  // beta 0 must ignore the old values of c, NaN included
    out.addmm_(as_tensor<T, Sum>(a, m, k), as_tensor<T, Sum>(b, k, n), beta, alpha);
    return;
  }
  // Fortran reads a row-major matrix as its transpose: c^T = b^T a^T.
  auto const rows = static_cast<int>(n), columns = static_cast<int>(m), inner = static_cast<int>(k);
  auto const lda = static_cast<int>(a.stride), ldb = static_cast<int>(b.stride), ldc = static_cast<int>(stride);
  char const ta = a.transposed ? 'T' : 'N', tb = b.transposed ? 'T' : 'N';
  blas(&tb, &ta, &rows, &columns, &inner, &alpha, b.data, &ldb, a.data, &lda, &beta, c, &ldc);
}

/// Computes c[m, n] = alpha a[m, k] b[k, n] + beta c by the fastest implementation for T. If the
/// caller is inside a parallel loop, uses only the calling thread.
template <class T, class Sum>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Sum alpha, matrix<T> a, matrix<T> b, Sum beta, Sum* c,
          std::int64_t stride) {
  if constexpr (std::is_same_v<T, at::BFloat16>) {
    if (tensors::bf16_path_in_use() == tensors::bf16_path::packed)
      return packed_product<Sum>{m, n, k, a, b, c, stride, alpha, beta}.run();
  }
  blas_gemm_call(m, n, k, alpha, a, b, beta, c, stride);
}

}  // namespace redco::kernel::cpu
