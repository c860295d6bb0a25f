#include "torch_catch.hpp"

#include "gradcheck.hpp"

#include <redco/kernel/cpu/f32_product.hpp>
#include <redco/kernel/cpu/few_rows_product.hpp>
#include <redco/kernel/cpu/packed_product.hpp>
#include <redco/kernel/experts.hpp>
#include <redco/tensor/bf16_path.hpp>
#include <redco/tensor/f32_path.hpp>
#include <redco/tensor/kernel_set.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

// Products of few rows with a weight that is read in place, compared with products in f64, and bit
// by bit with the products that copy the weight.

namespace few_rows_test {

using redco::kernel::cpu::few_rows_product;
using redco::tensors::bf16_path;
using redco::tensors::f32_path;

constexpr std::int64_t gap = 3;  // elements between the end of a row and the next row

at::Tensor few_numbers(std::vector<std::int64_t> const& sizes, double phase, at::ScalarType type) {
  return gradcheck::weights_for(at::empty(sizes, at::kDouble), phase).to(type);
}

/// Returns the product by the kernel that copies the weight.
template <class T>
at::Tensor by_copies(at::Tensor const& x, at::Tensor const& w) {
  std::int64_t const m = x.size(0), n = w.size(0), k = w.size(1);
  at::Tensor const y = at::empty({m, n}, x.options());
  auto const *const rows = x.const_data_ptr<T>(), *const weight = w.const_data_ptr<T>();
  T* const to = y.mutable_data_ptr<T>();
  if constexpr (std::is_same_v<T, float>)
    redco::kernel::cpu::f32_product{m, n, k, {rows, x.stride(0), 1}, {weight, 1, k}, to, n}.run();
  else redco::kernel::cpu::packed_product<T>{m, n, k, {rows, x.stride(0)}, {weight, k, true}, to, n}.run();
  return y;
}

template <class T>
void compare_few_rows(std::int64_t m, std::int64_t n, std::int64_t k) {
  auto const type = c10::CppTypeToScalarType<T>::value;
  INFO(c10::toString(type) << ' ' << m << " x " << n << " x " << k);
  at::Tensor const x = few_numbers({m, k + gap}, 0.3, type).narrow(1, 0, k), w = few_numbers({n, k}, 1.1, type);
  at::Tensor const guarded = at::full({m + 1, n + gap}, std::nan(""), type),
                   y = guarded.narrow(0, 0, m).narrow(1, 0, n);
  few_rows_product<T>{
      m, n, k, x.const_data_ptr<T>(), k + gap, w.const_data_ptr<T>(), guarded.mutable_data_ptr<T>(), n + gap}
      .run();
  at::Tensor const exact = at::mm(x.to(at::kDouble), w.t().to(at::kDouble));
  double const tolerance = type == at::kFloat ? 1e-5 : 1e-2;
  CHECK(((y.to(at::kDouble) - exact).abs() / (1 + exact.abs())).max().item<double>() < tolerance);
  CHECK(y.equal(by_copies<T>(x, w)));
  CHECK(guarded.narrow(1, n, gap).isnan().all().item<bool>());
  CHECK(guarded[m].isnan().all().item<bool>());
}

}  // namespace few_rows_test

using namespace few_rows_test;

TEST_CASE(
    "products of few rows are correct at every edge of panels and tiles, and have the bits of products by copies") {
  for (std::int64_t const m : {1, 16, 17, 31, 34, 64, 128})
    for (std::int64_t const n : {12, 37, 96})
      for (std::int64_t const k : {2, 33, 1540}) {
        compare_few_rows<float>(m, n, k);
        if (redco::kernel::cpu::has_avx512_bf16()) compare_few_rows<at::BFloat16>(m, n, k / 2 * 2);
      }
}

TEST_CASE("products of few rows are chosen by size and by the paths of products") {
  redco::tensors::forced_f32_path const f32(f32_path::packed);
  redco::tensors::forced_bf16_path const bf16(bf16_path::packed);
  CHECK(few_rows_product<float>::is_faster(128, 32, 33));
  CHECK(!few_rows_product<float>::is_faster(129, 32, 33));
  CHECK(few_rows_product<float>::is_faster(8, 32, 33));
  CHECK(!few_rows_product<float>::is_faster(7, 32, 33));
  CHECK(!few_rows_product<float>::is_faster(64, 31, 33));
  CHECK(!few_rows_product<float>::is_faster(64, 32, 31));
  CHECK(few_rows_product<at::BFloat16>::is_faster(64, 32, 32) == redco::kernel::cpu::has_avx512_bf16());
  CHECK(!few_rows_product<at::BFloat16>::is_faster(64, 32, 33));
  CHECK(!few_rows_product<at::BFloat16>::is_faster(129, 32, 32));
  redco::tensors::forced_f32_path const blas(f32_path::blas);
  redco::tensors::forced_bf16_path const bf16_blas(bf16_path::blas);
  CHECK(!few_rows_product<float>::is_faster(64, 32, 32));
  CHECK(!few_rows_product<at::BFloat16>::is_faster(64, 32, 32));
}

TEST_CASE("experts with few rows take the product that reads their weights in place") {
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  redco::tensors::forced_f32_path const f32(f32_path::packed);
  redco::tensors::forced_bf16_path const bf16(bf16_path::packed);
  std::vector<std::int64_t> const offsets{0, 34, 34, 99};
  auto const compare = [&]<class T>(T) {
    auto const type = c10::CppTypeToScalarType<T>::value;
    at::Tensor const x = few_numbers({99, 140}, 0.2, type), gate = few_numbers({3, 50, 140}, 0.8, type),
                     up = few_numbers({3, 33, 140}, 1.7, type);
    at::Tensor const y = redco::kernel::grouped_linear(x, {gate, up}, offsets);
    for (std::int64_t e : {0, 2}) {
      std::int64_t const first = offsets[static_cast<std::size_t>(e)], last = offsets[static_cast<std::size_t>(e) + 1];
      at::Tensor const rows = x.slice(0, first, last);
      CHECK(y.slice(0, first, last).equal(at::cat({by_copies<T>(rows, gate[e]), by_copies<T>(rows, up[e])}, 1)));
    }
  };
  compare(float{});
  if (redco::kernel::cpu::has_avx512_bf16()) compare(at::BFloat16{});
}

TEST_CASE("products of few rows have the same bits on any number of threads") {
  at::Tensor const x = few_numbers({70, 400}, 0.2, at::kFloat), w = few_numbers({190, 400}, 0.8, at::kFloat);
  auto const product = [&](int threads) {
    int const before = at::get_num_threads();
    at::set_num_threads(threads);
    at::Tensor const y = at::full({70, 190}, std::nanf(""));
    few_rows_product<float>{
        70, 190, 400, x.const_data_ptr<float>(), 400, w.const_data_ptr<float>(), y.mutable_data_ptr<float>(), 190}
        .run();
    at::set_num_threads(before);
    return y;
  };
  at::Tensor const of_one = product(1);
  CHECK(of_one.equal(by_copies<float>(x, w)));
  for (int const threads : {2, 3}) CHECK(product(threads).equal(of_one));
}
