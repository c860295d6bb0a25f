#include "torch_catch.hpp"

#include "gradcheck.hpp"

#include <redco/kernel/cpu/f32_product.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/kernel/product.hpp>
#include <redco/tensor/f32_path.hpp>
#include <redco/tensor/kernel_set.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

// Compares large f32 products with ATen's in f64, also on CPUs whose BLAS is faster.

namespace f32_product_test {

using redco::kernel::cpu::f32_product;
using redco::kernel::cpu::product_start;
using redco::tensors::f32_path;
using redco::tensors::forced_f32_path;

at::Tensor numbers(std::vector<std::int64_t> const& sizes, double phase) {
  return gradcheck::weights_for(at::empty(sizes, at::kDouble), phase).to(at::kFloat);
}

double error(at::Tensor const& found, at::Tensor const& expected) {
  return ((found.to(at::kDouble) - expected).abs() / (1 + expected.abs())).max().item<double>();
}

redco::kernel::cpu::stepped_matrix<float> stepped(at::Tensor const& x) {
  return {x.const_data_ptr<float>(), x.stride(0), x.stride(1)};
}

/// A scope with another number of ATen's threads.
struct some_threads {
  int before = at::get_num_threads();
  explicit some_threads(int threads) { at::set_num_threads(threads); }
  ~some_threads() { at::set_num_threads(before); }
};

/// Compares a product for every initial value of the result, on one thread and on three. Rows of
/// all matrices have gaps between them; those of the result are as wide as a tile.
void compare(std::int64_t m, std::int64_t n, std::int64_t k, bool a_turned, bool b_turned) {
  auto const made = [&](std::int64_t rows, std::int64_t columns, bool turned, double phase) {
    return turned ? numbers({columns, rows + 3}, phase).narrow(1, 0, rows).t()
                  : numbers({rows, columns + 3}, phase).narrow(1, 0, columns);
  };
  at::Tensor const a = made(m, k, a_turned, 0.3), b = made(k, n, b_turned, 1.1), bias = numbers({n}, 2.0);
  constexpr std::int64_t gap = 32;
  float const alpha = k == 6 ? 0.25F : 1;
  at::Tensor const exact = at::mm(a.to(at::kDouble), b.to(at::kDouble)) * alpha;
  for (product_start const start : {product_start::zero, product_start::bias, product_start::sum}) {
    INFO(m << " x " << n << " x " << k << " turned " << a_turned << b_turned << " start " << static_cast<int>(start));
    at::Tensor const before =
        start == product_start::sum ? numbers({m + 1, n + gap}, 0.9) : at::full({m + 1, n + gap}, std::nanf(""));
    at::Tensor of_one;
    for (int const threads : {1, 3}) {
      some_threads const scope(threads);
      at::Tensor const guarded = before.clone(), c = guarded.narrow(0, 0, m).narrow(1, 0, n);
      f32_product{
          m,    n, k, stepped(a), stepped(b), c.mutable_data_ptr<float>(), n + gap, start, bias.const_data_ptr<float>(),
          alpha}
          .run();
      at::Tensor const first = start == product_start::zero   ? at::zeros({m, n}, at::kDouble)
                               : start == product_start::bias ? bias.to(at::kDouble).expand({m, n})
                                                              : before.narrow(0, 0, m).narrow(1, 0, n).to(at::kDouble);
      CHECK(error(c, exact + first) < 1e-5);
      CHECK(guarded.narrow(1, n, gap).nan_to_num(-1).equal(before.narrow(1, n, gap).nan_to_num(-1)));
      CHECK(guarded[m].nan_to_num(-1).equal(before[m].nan_to_num(-1)));
      if (threads == 1) of_one = c;
      CHECK(c.equal(of_one));
    }
  }
}

TEST_CASE("f32 products are correct at every edge of tiles, strips and chunks, transposed or not, on any threads") {
  for (std::int64_t const m : {1, 7, 12, 29})
    for (std::int64_t const n : {1, 33, 64})
      for (std::int64_t const k : {1, 6, 1540})
        for (int const turned : {0, 1, 2, 3}) compare(m, n, k, turned & 1, turned & 2);
  compare(200, 130, 3100, false, true);  // blocks of rows, groups of panels, three chunks of k
  compare(14, 2800, 1540, true, false);  // two blocks of columns
}

TEST_CASE("rows of an f32 product have the same bits computed apart") {
  at::Tensor const a = numbers({41, 700}, 0.4), b = numbers({700, 50}, 0.2);
  auto const product = [&](at::Tensor const& rows) {
    at::Tensor const c = at::empty({rows.size(0), 50});
    f32_product{rows.size(0), 50, 700, stepped(rows), stepped(b), c.mutable_data_ptr<float>(), 50}.run();
    return c;
  };
  at::Tensor const all = product(a);
  for (std::int64_t const first : {0, 5, 12, 31})
    CHECK(product(a.narrow(0, first, 10)).equal(all.narrow(0, first, 10)));
}

TEST_CASE("a large linear map in f32 computes result and gradients on the chosen path") {
  at::Tensor const x = numbers({2, 67, 330}, 0.3), w = numbers({210, 330}, 1.1), b = numbers({210}, 0.8),
                   g = numbers({2, 67, 210}, 0.6);
  gradcheck::tensor_list exact;
  for (at::Tensor const& one : {x, w, b}) exact.push_back(one.to(at::kDouble).requires_grad_());
  at::Tensor const expected = at::linear(exact[0], exact[1], exact[2]);
  auto const wanted = torch::autograd::grad({expected}, exact, {g.to(at::kDouble)});
  for (f32_path const path : {f32_path::blas, f32_path::packed}) {
    INFO(name_of(path));
    forced_f32_path const forced(path);
    gradcheck::tensor_list leaves;
    for (at::Tensor const& one : {x, w, b}) leaves.push_back(one.detach().clone().requires_grad_());
    at::Tensor const y = redco::kernel::linear(leaves[0], leaves[1], leaves[2]);
    CHECK(error(y.detach(), expected.detach()) < 1e-5);
    auto const found = torch::autograd::grad({y}, leaves, {g});
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(error(found[i], wanted[i]) < 1e-5);
    bool const by_kernels = redco::tensors::kernel_set_in_use() == redco::tensors::kernel_set::fastest;
    CHECK((y.grad_fn()->name() == "fused_linear") == (by_kernels && path == f32_path::packed));

    // Products into memory have the bits of the linear map.
    at::NoGradGuard const unrecorded;
    at::Tensor const into = at::full({134, 210}, std::nanf(""));
    redco::kernel::product_into(into, x.view({134, 330}), w.t(), b);
    CHECK(into.equal(y.detach().view({134, 210})));
    CHECK(redco::kernel::product(g.view({134, 210}), w).equal(found[0].view({134, 330})));
  }
}

TEST_CASE("a large linear map in f32 is twice differentiable") {
  forced_f32_path const forced(f32_path::packed);
  auto const second = [](at::Tensor const& x, at::Tensor const& w) {
    at::Tensor const y = redco::kernel::linear(x, w),
                     g = torch::autograd::grad({y.pow(3).sum()}, {x}, {}, true, true)[0];
    return torch::autograd::grad({(g * g).sum()}, {w})[0];
  };
  at::Tensor const x = numbers({40, 260}, 0.2), w = numbers({270, 260}, 0.9) / 50;
  at::Tensor const found = second(x.clone().requires_grad_(), w.clone().requires_grad_()),
                   wanted = second(x.to(at::kDouble).requires_grad_(), w.to(at::kDouble).requires_grad_());
  CHECK(((found.to(at::kDouble) - wanted).abs().max() / wanted.abs().max()).item<double>() < 1e-5);
}

TEST_CASE("the path of f32 products is the CPU's default unless the environment sets it") {
  using redco::tensors::f32_path_of;
  CHECK(f32_path_of(nullptr, f32_path::packed) == f32_path::packed);
  CHECK(f32_path_of("", f32_path::blas) == f32_path::blas);
  CHECK(f32_path_of("blas", f32_path::packed) == f32_path::blas);
  CHECK(f32_path_of("packed", f32_path::blas) == f32_path::packed);
  CHECK_THROWS_AS(f32_path_of("mkl", f32_path::blas), redco::error);
}

}  // namespace f32_product_test
