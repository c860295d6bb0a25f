#include "torch_catch.hpp"

#include "gradcheck.hpp"

#include <redco/kernel/cpu/linear.hpp>
#include <redco/kernel/linear.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

// Products of bf16 on every path, against products of the same bf16 numbers in f64.

namespace linear_test {

using redco::kernel::cpu::bf16_linear;
using redco::kernel::cpu::matrix;
using redco::kernel::cpu::packed_product;
using redco::tensors::bf16_path;

constexpr bf16_path all_paths[] = {bf16_path::onednn, bf16_path::packed, bf16_path::blas};

at::Tensor numbers(std::vector<std::int64_t> const& sizes, double phase) {
  return gradcheck::weights_for(at::empty(sizes, at::kDouble), phase).to(at::kBFloat16);
}

double error(at::Tensor const& found, at::Tensor const& expected) {
  return ((found.to(at::kDouble) - expected).abs() / (1 + expected.abs())).max().item().toDouble();
}

// Compares values and gradients for x [examples, rows, in]. Rows or columns exceed one block of
// sums.
void compare(std::int64_t rows, std::int64_t in, std::int64_t out, bool biased) {
  INFO("x [2, " << rows << ", " << in << "], weight [" << out << ", " << in << "], bias " << biased);
  std::vector<at::Tensor> leaves{numbers({2, rows, in}, 0.3) / 4, numbers({out, in}, 1.1) / 8};
  if (biased) leaves.push_back(numbers({out}, 2.0));
  std::vector<at::Tensor> exact;
  for (at::Tensor& x : leaves) {
    x = x.detach().requires_grad_();
    exact.push_back(x.detach().to(at::kDouble).requires_grad_());
  }
  auto const bias = [&](std::vector<at::Tensor> const& x) { return biased ? x[2] : at::Tensor(); };
  auto const ours = bf16_linear::apply(leaves[0], leaves[1], biased ? std::optional(leaves[2]) : std::nullopt);
  auto const theirs = at::linear(exact[0], exact[1], bias(exact));
  CHECK(error(ours.detach(), theirs.detach()) < 4e-3);  // half a unit of bf16's eight bits
  auto const g = numbers({2, rows, out}, 0.7);
  auto const found = torch::autograd::grad({ours}, leaves, {g}),
             expected = torch::autograd::grad({theirs}, exact, {g.to(at::kDouble)});
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(error(found[i], expected[i]) < 4e-3);
}

TEST_CASE("bf16 linear rounds once on every path and for any number of blocks") {
  for (bf16_path const path : all_paths) {
    INFO(name_of(path));
    redco::tensors::forced_bf16_path const forced(path);
    compare(3, 5, 7, true);
    compare(3, 5, 7, false);
    // Blocks of sums: 64 rows for y, 32771 for the gradients of the weight
    compare(1, 3, 32771, true);
    compare(70, 2, 32771, false);
    compare(41, 129, 75, true);
    compare(9, 33001, 3, true);  // panels larger than one packing buffer
  }
}

TEST_CASE("bf16 linear is twice differentiable and skips gradients that are not needed") {
  for (bf16_path const path : all_paths) {
    INFO(name_of(path));
    redco::tensors::forced_bf16_path const forced(path);
    auto const x = numbers({2, 3}, 0.2).requires_grad_(), w = numbers({4, 3}, 0.9).requires_grad_();
    auto const y = bf16_linear::apply(x, w, std::nullopt);
    auto const g = torch::autograd::grad({y.square().sum()}, {x}, {}, true, true)[0];
    auto const second = torch::autograd::grad({g.sum()}, {w})[0];
    auto const xe = x.detach().to(at::kDouble).requires_grad_(), we = w.detach().to(at::kDouble).requires_grad_();
    auto const ge = torch::autograd::grad({at::linear(xe, we).square().sum()}, {xe}, {}, true, true)[0];
    CHECK(error(second, torch::autograd::grad({ge.sum()}, {we})[0]) < 0.05);
    CHECK(!bf16_linear::apply(x.detach(), w.detach(), std::nullopt).requires_grad());
  }
}

// Compares alpha a b + beta c in f32, and checks that memory around c is unchanged.
void compare_sums(std::int64_t m, std::int64_t n, std::int64_t k, bool a_turned, bool b_turned, bool native) {
  INFO(m << " x " << n << " x " << k << " turned " << a_turned << b_turned << " native " << native);
  auto const a = a_turned ? numbers({k, m}, 0.3).t() : numbers({m, k}, 0.3);
  auto const b = b_turned ? numbers({n, k}, 1.1).t() : numbers({k, n}, 1.1);
  auto const exact = at::mm(a.to(at::kDouble), b.to(at::kDouble)) * 0.5;
  for (bool const add : {false, true}) {
    auto const whole = add ? at::arange(m * (n + 3), at::kFloat).view({m, n + 3}) : at::full({m, n + 3}, NAN);
    auto const before = whole.clone();
    packed_product<float>{m,
                          n,
                          k,
                          redco::kernel::cpu::matrix_of<at::BFloat16>(a),
                          redco::kernel::cpu::matrix_of<at::BFloat16>(b),
                          whole.mutable_data_ptr<float>(),
                          n + 3,
                          0.5f,
                          add ? 1.0f : 0.0f,
                          nullptr,
                          native}
        .run();
    auto const expected = add ? exact + before.narrow(1, 0, n).to(at::kDouble) : exact;
    CHECK(error(whole.narrow(1, 0, n), expected) < 1e-6);
    CHECK(whole.narrow(1, n, 3).nan_to_num(-1).equal(before.narrow(1, n, 3).nan_to_num(-1)));
  }
}

TEST_CASE("packed products are correct at every edge of tiles, panels and pairs, with and without instructions") {
  std::vector<bool> native{false};
  if (redco::kernel::cpu::has_avx512_bf16()) native.push_back(true);
  for (bool const instructions : native)
    for (std::int64_t const m : {1, 7, 25, 59})
      for (std::int64_t const n : {1, 17, 32, 70})
        for (std::int64_t const k : {1, 2, 33, 66})
          for (int const turned : {0, 1, 2, 3}) compare_sums(m, n, k, turned & 1, turned & 2, instructions);
}

TEST_CASE("the path of bf16 products is the CPU's default unless the environment sets it") {
  using redco::shape::bf16_instructions, redco::tensors::bf16_path_of;
  CHECK(bf16_path_of(nullptr, bf16_instructions::amx) == bf16_path::onednn);
  CHECK(bf16_path_of("", bf16_instructions::avx512) == bf16_path::packed);
  CHECK(bf16_path_of(nullptr, bf16_instructions::none) == bf16_path::blas);
  CHECK(bf16_path_of("blas", bf16_instructions::amx) == bf16_path::blas);
  CHECK_THROWS_AS(bf16_path_of("mkl", bf16_instructions::none), redco::error);
}

}  // namespace linear_test
