#pragma once

#include <redco/kernel/cpu/gemm.hpp>
#include <redco/kernel/cpu/packed_product.hpp>
#include <redco/kernel/cpu/scratch.hpp>
#include <redco/tensor/bf16_path.hpp>
#include <redco/tensor/memory_counter.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstdint>

namespace redco::kernel::cpu {

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

/// Computes y = a b + bias in bf16, summed in f32, by the bf16 implementation that this process
/// uses (see bf16_path). a and b may be transposed; rows of y may be strided.
inline void bf16_product(at::Tensor const& y, at::Tensor const& a, at::Tensor const& b, at::Tensor const& bias = {}) {
  tensors::bf16_path const path = tensors::bf16_path_in_use();
  if (path == tensors::bf16_path::onednn) {
    tensors::memory_counter::scope const apart(tensors::library_memory());
    at::Tensor out = y;
    bias.defined() ? at::addmm_out(out, bias, a, b) : at::mm_out(out, a, b);
    return;
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

}  // namespace redco::kernel::cpu
