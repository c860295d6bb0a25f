#pragma once

#include <redco/tensor/torch.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

namespace redco::kernel::detail {

template <class T, class Sum>
using blas_gemm = void (*)(char const*, char const*, int const*, int const*, int const*, Sum const*, T const*,
                           int const*, T const*, int const*, Sum const*, Sum*, int const*);

/// The BLAS that libtorch itself uses, found among the loaded libraries: a call costs a microsecond less than at::mm
/// and takes pointers. Null where this libtorch brings none (bf16 is an extension of MKL).
template <class T, class Sum>
blas_gemm<T, Sum> find_blas_gemm() {
  constexpr auto name = std::is_same_v<T, double>  ? "dgemm_"
                        : std::is_same_v<T, float> ? "sgemm_"
                                                   : "gemm_bf16bf16f32_";
  return reinterpret_cast<blas_gemm<T, Sum>>(dlsym(RTLD_DEFAULT, name));
}

/// A row-major matrix for gemm: `transposed` takes the rows for columns.
template <class T>
struct matrix {
  T const* data;
  std::int64_t stride;
  bool transposed = false;
};

/// From one row of a matrix to the next, in elements; no less than a row where there is one only.
inline std::int64_t row_step(at::Tensor const& x) { return std::max(x.stride(0), x.size(1)); }

template <class T, class Sum>
at::Tensor as_tensor(matrix<T> m, std::int64_t rows, std::int64_t columns) {
  auto const strides = m.transposed ? std::array{std::int64_t{1}, m.stride} : std::array{m.stride, std::int64_t{1}};
  return at::from_blob(const_cast<T*>(m.data), {rows, columns}, strides, c10::CppTypeToScalarType<T>::value)
      .to(c10::CppTypeToScalarType<Sum>::value);
}

/// c[m, n] = alpha a[m, k] b[k, n] + beta c, row-major, summed in `Sum`. The calling thread computes alone where it is
/// one of a parallel region.
template <class T, class Sum>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Sum alpha, matrix<T> a, matrix<T> b, Sum beta, Sum* c,
          std::int64_t stride) {
  static auto const blas = find_blas_gemm<T, Sum>();
  if (blas == nullptr) {
    auto out = at::from_blob(c, {m, n}, {stride, 1}, c10::CppTypeToScalarType<Sum>::value);
    if (beta == 0) out.zero_();  // beta 0 ignores what c holds, NaN included
    out.addmm_(as_tensor<T, Sum>(a, m, k), as_tensor<T, Sum>(b, k, n), beta, alpha);
    return;
  }
  // Fortran reads a row-major matrix as its transpose: c^T = b^T a^T.
  auto const rows = static_cast<int>(n), columns = static_cast<int>(m), inner = static_cast<int>(k);
  auto const lda = static_cast<int>(a.stride), ldb = static_cast<int>(b.stride), ldc = static_cast<int>(stride);
  char const ta = a.transposed ? 'T' : 'N', tb = b.transposed ? 'T' : 'N';
  blas(&tb, &ta, &rows, &columns, &inner, &alpha, b.data, &ldb, a.data, &lda, &beta, c, &ldc);
}

}  // namespace redco::kernel::detail
