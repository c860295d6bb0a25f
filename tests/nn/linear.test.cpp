#include "torch_catch.hpp"

#include "nn/gradcheck.hpp"

#include <redco/nn/kernel/detail/bf16_linear.hpp>
#include <redco/nn/kernel/linear.hpp>

#include <vector>

// bf16 products without instructions for bf16, against products of the same bf16 numbers in f64.

namespace linear_test {

using redco::kernel::detail::bf16_linear;

at::Tensor numbers(std::vector<std::int64_t> const& sizes, double phase) {
  return gradcheck::weights_for(at::empty(sizes, at::kDouble), phase).to(at::kBFloat16);
}

double error(at::Tensor const& found, at::Tensor const& expected) {
  return ((found.to(at::kDouble) - expected).abs() / (1 + expected.abs())).max().item().toDouble();
}

// Values and gradients for x [examples, rows, in]; enough rows or columns for more than one block of sums.
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
  auto const found = torch::autograd::grad({ours}, leaves, {g}), expected = torch::autograd::grad({theirs}, exact, {g.to(at::kDouble)});
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(error(found[i], expected[i]) < 4e-3);
}

TEST_CASE("bf16 linear rounds once, whatever the number of blocks") {
  compare(3, 5, 7, true);
  compare(3, 5, 7, false);
  compare(1, 3, 32771, true);   // 64 rows at a time for y, 32771 for the gradients of the weight
  compare(70, 2, 32771, false);
}

TEST_CASE("bf16 linear is differentiable twice, and leaves out what nobody wants") {
  auto const x = numbers({2, 3}, 0.2).requires_grad_(), w = numbers({4, 3}, 0.9).requires_grad_();
  auto const y = bf16_linear::apply(x, w, std::nullopt);
  auto const g = torch::autograd::grad({y.square().sum()}, {x}, {}, true, true)[0];
  auto const second = torch::autograd::grad({g.sum()}, {w})[0];
  auto const xe = x.detach().to(at::kDouble).requires_grad_(), we = w.detach().to(at::kDouble).requires_grad_();
  auto const ge = torch::autograd::grad({at::linear(xe, we).square().sum()}, {xe}, {}, true, true)[0];
  CHECK(error(second, torch::autograd::grad({ge.sum()}, {we})[0]) < 0.05);
  CHECK(!bf16_linear::apply(x.detach(), w.detach(), std::nullopt).requires_grad());
}

}  // namespace linear_test
