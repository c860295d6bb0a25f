#pragma once

#include <redco/kernel/cpu/f32_product.hpp>
#include <redco/kernel/cpu/pack_pairs.hpp>
#include <redco/kernel/cpu/packed_product.hpp>
#include <redco/kernel/cpu/scratch.hpp>
#include <redco/tensor/bf16_path.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <dlfcn.h>
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

inline stepped_matrix<float> stepped(matrix<float> const& x) {
  return x.transposed ? stepped_matrix<float>{x.data, 1, x.stride} : stepped_matrix<float>{x.data, x.stride, 1};
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
  if constexpr (std::is_same_v<T, float>) {
    // With fewer rows, copying b takes too long; with fewer columns or addends, copying a.
    bool const large = m >= 128 && n >= 32 && k >= 32;
    if (large && (beta == 0 || beta == 1) && tensors::f32_path_in_use() == tensors::f32_path::packed)
      return f32_product{m,          n,    k,      stepped(a),
                         stepped(b), c,    stride, beta == 0 ? product_start::zero : product_start::sum,
                         nullptr,    alpha}
          .run();
  }
  blas_gemm_call(m, n, k, alpha, a, b, beta, c, stride);
}

/// Computes y = a b + bias in f32 by f32_product. a and b may be transposed; rows of y may be
/// strided.
inline void packed_f32_product(at::Tensor const& y, at::Tensor const& a, at::Tensor const& b, at::Tensor const& bias) {
  at::Tensor const left = with_unit_stride(a), right = with_unit_stride(b),
                   dense_bias = bias.defined() ? bias.contiguous() : bias;
  f32_product{.m = y.size(0),
              .n = y.size(1),
              .k = a.size(1),
              .a = {left.const_data_ptr<float>(), left.stride(0), left.stride(1)},
              .b = {right.const_data_ptr<float>(), right.stride(0), right.stride(1)},
              .c = y.mutable_data_ptr<float>(),
              .stride = row_step(y),
              .start = bias.defined() ? product_start::bias : product_start::zero,
              .bias = bias.defined() ? dense_bias.const_data_ptr<float>() : nullptr}
      .run();
}

/// Computes y [m, n] = a [m, k] b [k, n] + bias with MKL, for bf16. Blocks of rows are summed in
/// f32, in about 8 MB of scratch memory that the thread keeps.
inline void blas_product(at::Tensor const& y, matrix<at::BFloat16> a, matrix<at::BFloat16> b, std::int64_t k,
                         at::Tensor const& bias) {
  std::int64_t const m = y.size(0), n = y.size(1), most = std::max<std::int64_t>(64, (std::int64_t{1} << 21) / n);
  at::Tensor const wide_bias = bias.defined() ? bias.to(at::kFloat) : bias;
  for (std::int64_t i = 0; i < m; i += most) {
    std::int64_t const rows = std::min(most, m - i);
    float* const sums = scratch<float, 0>(rows * n);
    blas_gemm_call(rows, n, k, 1.0f, a.from_row(i), b, 0.0f, sums, n);
    auto const block = at::from_blob(sums, {rows, n}, at::kFloat);
    if (wide_bias.defined()) block.add_(wide_bias);
    y.narrow(0, i, rows).copy_(block);
  }
}

/// Computes y = a b + bias with ATen, on any device. `bias` may be undefined.
inline void aten_product(at::Tensor const& y, at::Tensor const& a, at::Tensor const& b, at::Tensor const& bias) {
  at::Tensor out = y;
  bias.defined() ? at::addmm_out(out, bias, a, b) : at::mm_out(out, a, b);
}

/// Computes y = a b + bias in bf16, summed in f32, by the bf16 implementation that this process
/// uses (see bf16_path). a and b may be transposed; rows of y may be strided.
inline void bf16_product(at::Tensor const& y, at::Tensor const& a, at::Tensor const& b, at::Tensor const& bias = {}) {
  tensors::bf16_path const path = tensors::bf16_path_in_use();
  if (path == tensors::bf16_path::onednn) {
    tensors::memory_counter::scope const apart(tensors::library_memory());
    return aten_product(y, a, b, bias);
  }
  at::Tensor const left = with_unit_stride(a), right = with_unit_stride(b);
  if (path == tensors::bf16_path::blas)
    return blas_product(y, matrix_of<at::BFloat16>(left), matrix_of<at::BFloat16>(right), a.size(1), bias);
  at::Tensor const dense_bias = bias.defined() ? bias.contiguous() : bias;
  packed_product<at::BFloat16>{.m = y.size(0),
                               .n = y.size(1),
                               .k = a.size(1),
                               .a = matrix_of<at::BFloat16>(left),
                               .b = matrix_of<at::BFloat16>(right),
                               .c = y.mutable_data_ptr<at::BFloat16>(),
                               .stride = row_step(y),
                               .bias = bias.defined() ? dense_bias.const_data_ptr<at::BFloat16>() : nullptr}
      .run();
}

/// Computes y = a b + bias by the implementation that this process uses for the dtype and the sizes
/// (see bf16_path, is_packed_product), else by ATen. `bias` may be undefined. a and b may be
/// transposed; rows of y may be strided.
inline void product(at::Tensor const& y, at::Tensor const& a, at::Tensor const& b, at::Tensor const& bias = {}) {
  if (a.scalar_type() == at::kBFloat16) return bf16_product(y, a, b, bias);
  bool const f32 = a.scalar_type() == at::kFloat && b.scalar_type() == at::kFloat && y.scalar_type() == at::kFloat;
  if (f32 && y.numel() > 0 && y.stride(1) == 1 && is_packed_product(b.size(1), b.size(0)))
    return packed_f32_product(y, a, b, bias);
  aten_product(y, a, b, bias);
}

}  // namespace redco::kernel::cpu
