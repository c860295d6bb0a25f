#include "torch_catch.hpp"

#include "gradcheck.hpp"
#include "operator_count.hpp"

#include <redco/kernel/activations.hpp>
#include <redco/kernel/cpu/fused_linear.hpp>
#include <redco/kernel/cpu/panel_product.hpp>
#include <redco/kernel/cpu/small_product.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/tensor/f32_path.hpp>
#include <redco/tensor/kernel_set.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// Compares small products, and the linear map in one autograd node, with ATen's in f64.

namespace fused_linear_test {

using gradcheck::tensor_list;
using redco::kernel::after_linear;
using redco::kernel::cpu::forced_small_work;
using redco::kernel::cpu::product_start;
using redco::kernel::cpu::small_product;

at::Tensor numbers(std::vector<std::int64_t> const& sizes, double phase, at::ScalarType type = at::kDouble) {
  return gradcheck::weights_for(at::empty(sizes, at::kDouble), phase).to(type);
}

double error(at::Tensor const& found, at::Tensor const& expected) {
  return ((found.to(at::kDouble) - expected.to(at::kDouble)).abs() / (1 + expected.to(at::kDouble).abs()))
      .max()
      .item()
      .toDouble();
}

/// A scope with another number of ATen's threads.
struct threads_scope {
  int before = at::get_num_threads();
  explicit threads_scope(int threads) { at::set_num_threads(threads); }
  ~threads_scope() { at::set_num_threads(before); }
};

template <class T>
redco::kernel::cpu::stepped_matrix<T> stepped(at::Tensor const& x) {
  return {x.const_data_ptr<T>(), x.stride(0), x.stride(1)};
}

/// Compares one product for every initial value of the result. Matrices are transposed or not, and
/// rows have gaps between them.
template <class T>
void compare_product(std::int64_t m, std::int64_t n, std::int64_t k, bool a_turned, bool b_turned, double tolerance) {
  auto const type = c10::CppTypeToScalarType<T>::value;
  auto const made = [&](std::int64_t rows, std::int64_t columns, bool turned, double phase) {
    at::Tensor const wide =
        turned ? numbers({columns, rows + 3}, phase, type) : numbers({rows, columns + 3}, phase, type);
    return turned ? wide.narrow(1, 0, rows).t() : wide.narrow(1, 0, columns);
  };
  at::Tensor const a = made(m, k, a_turned, 0.3), b = made(k, n, b_turned, 1.1), bias = numbers({n}, 2.0, type);
  at::Tensor const exact = at::mm(a.to(at::kDouble), b.to(at::kDouble));
  for (product_start const start : {product_start::zero, product_start::bias, product_start::sum}) {
    INFO(m << " x " << n << " x " << k << " turned " << a_turned << b_turned << " start " << static_cast<int>(start));
    at::Tensor const guarded = numbers({m + 2, n}, 0.9, type), before = guarded.clone();
    small_product<T>{
        m, n, k, stepped<T>(a), stepped<T>(b), guarded.mutable_data_ptr<T>() + n, start, bias.const_data_ptr<T>()}
        .run();
    at::Tensor const first = start == product_start::zero   ? at::zeros({m, n}, at::kDouble)
                             : start == product_start::bias ? bias.to(at::kDouble).expand({m, n})
                                                            : before.narrow(0, 1, m).to(at::kDouble);
    CHECK(error(guarded.narrow(0, 1, m), exact + first) < tolerance);
    CHECK(guarded[0].equal(before[0]));
    CHECK(guarded[m + 1].equal(before[m + 1]));
  }
}

TEST_CASE("small products are correct at every edge of tiles and vectors, transposed or not, from every start") {
  for (std::int64_t const m : {1, 4, 7, 13})
    for (std::int64_t const n : {1, 3, 8, 40, 71})
      for (std::int64_t const k : {1, 5, 33})
        for (int const turned : {0, 1, 2, 3}) {
          compare_product<float>(m, n, k, turned & 1, turned & 2, 2e-6);
          compare_product<double>(m, n, k, turned & 1, turned & 2, 1e-14);
        }
}

TEST_CASE("each row of a small product has the same bits however many rows there are") {
  for (std::int64_t const n : {3, 40}) {
    at::Tensor const a = numbers({17, 29}, 0.2, at::kFloat), b = numbers({29, n}, 0.8, at::kFloat);
    auto const product = [&](at::Tensor const& rows) {
      at::Tensor const c = at::empty({rows.size(0), n});
      small_product<float>{rows.size(0), n, 29, stepped<float>(rows), stepped<float>(b), c.mutable_data_ptr<float>()}
          .run();
      return c;
    };
    at::Tensor const all = product(a);
    for (std::int64_t i = 0; i < 17; ++i) CHECK(product(a.narrow(0, i, 1)).equal(all.narrow(0, i, 1)));
  }
}

/// Compares one product in panels for every initial value of the result, on one thread and on
/// three.
template <class T>
void compare_panels(std::int64_t m, std::int64_t n, std::int64_t k, bool a_turned, bool b_turned, double tolerance) {
  auto const type = c10::CppTypeToScalarType<T>::value;
  auto const made = [&](std::int64_t rows, std::int64_t columns, bool turned, double phase) {
    at::Tensor const x = turned ? numbers({columns, rows}, phase, type) : numbers({rows, columns}, phase, type);
    return turned ? x.t() : x;
  };
  at::Tensor const a = made(m, k, a_turned, 0.3), b = made(k, n, b_turned, 1.1), bias = numbers({n}, 2.0, type);
  at::Tensor const exact = at::mm(a.to(at::kDouble), b.to(at::kDouble));
  for (product_start const start : {product_start::zero, product_start::bias, product_start::sum}) {
    INFO(m << " x " << n << " x " << k << " turned " << a_turned << b_turned << " start " << static_cast<int>(start));
    at::Tensor const before = numbers({m + 2, n}, 0.9, type);
    at::Tensor of_one;
    for (int const threads : {1, 3}) {
      threads_scope const scope(threads);
      at::Tensor const guarded = before.clone();
      redco::kernel::cpu::panel_product<T>{
          m, n, k, stepped<T>(a), stepped<T>(b), guarded.mutable_data_ptr<T>() + n, start, bias.const_data_ptr<T>()}
          .run();
      at::Tensor const first = start == product_start::zero   ? at::zeros({m, n}, at::kDouble)
                               : start == product_start::bias ? bias.to(at::kDouble).expand({m, n})
                                                              : before.narrow(0, 1, m).to(at::kDouble);
      CHECK(error(guarded.narrow(0, 1, m), exact + first) < tolerance);
      CHECK(guarded[0].equal(before[0]));
      CHECK(guarded[m + 1].equal(before[m + 1]));
      if (threads == 1) of_one = guarded;
      CHECK(guarded.equal(of_one));
    }
  }
}

TEST_CASE("products in panels are correct at every edge of tiles and caches, transposed or not, on any threads") {
  for (std::int64_t const m : {1, 5, 13, 96})
    for (std::int64_t const n : {32, 96})
      for (std::int64_t const k : {2, 127, 130, 300})
        for (int const turned : {0, 1, 2, 3}) {
          compare_panels<float>(m, n, k, turned & 1, turned & 2, 1e-5);
          compare_panels<double>(m, n, k, turned & 1, turned & 2, 1e-13);
        }
  compare_panels<float>(700, 64, 256, false, true, 1e-5);
}

struct linear_case {
  std::string name;
  tensor_list inputs;  // x, w, and b if there is one; f64
};

std::vector<linear_case> linear_cases() {
  return {{"rows", {numbers({10, 5}, 0.1), numbers({9, 5}, 0.7), numbers({9}, 1.3)}},
          {"one column in", {numbers({10, 1}, 0.1), numbers({9, 1}, 0.7), numbers({9}, 1.3)}},
          {"one column out", {numbers({10, 9}, 0.1), numbers({1, 9}, 0.7), numbers({1}, 1.3)}},
          {"examples of rows, no bias", {numbers({2, 3, 4}, 0.1), numbers({11, 4}, 0.7)}},
          {"a part of wider rows", {numbers({10, 8}, 0.1).narrow(1, 2, 4), numbers({9, 4}, 0.7), numbers({9}, 1.3)}}};
}

tensor_list leaves_of(tensor_list const& inputs, at::ScalarType type) {
  tensor_list all;
  for (at::Tensor const& x : inputs) {
    at::Tensor const wide = at::empty_strided(x.sizes(), x.strides(), x.options().dtype(type));
    wide.copy_(x);
    all.push_back(wide.requires_grad_());
  }
  return all;
}

at::Tensor ours(tensor_list const& x) { return redco::kernel::linear(x[0], x[1], x.size() > 2 ? x[2] : at::Tensor()); }
/// The map and its activation, in one node where they may.
auto ours_before(after_linear next) {
  return [next](tensor_list const& x) {
    at::Tensor const bias = x.size() > 2 ? x[2] : at::Tensor();
    return redco::kernel::activated(redco::kernel::linear_before(next, x[0], x[1], bias), next);
  };
}
at::Tensor atens(tensor_list const& x) { return at::linear(x[0], x[1], x.size() > 2 ? x[2] : at::Tensor()); }

/// Returns the value of f, then for each order the gradients of a weighted sum of squares of the
/// previous results.
template <class F>
tensor_list derivatives(F const& f, tensor_list const& leaves, int orders) {
  at::Tensor const y = f(leaves);
  tensor_list all{y};
  at::Tensor of = (y * y * gradcheck::weights_for(y, 0.1)).sum();
  for (int order = 0; order < orders; ++order) {
    bool const is_last = order + 1 == orders;  // not recorded, as in a training step
    tensor_list const found = torch::autograd::grad({of}, leaves, {}, true, !is_last, true);
    of = at::zeros({}, y.options());
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!found[i].defined()) continue;
      all.push_back(found[i]);
      of = of + (found[i] * found[i] * gradcheck::weights_for(found[i], 0.5 + static_cast<double>(i))).sum();
    }
  }
  return all;
}

auto atens_before(after_linear next) {
  return [next](tensor_list const& x) {
    at::Tensor const y = atens(x);
    return next == after_linear::tanh ? at::tanh(y) : next == after_linear::relu ? at::relu(y) : y;
  };
}

constexpr after_linear activations[] = {after_linear::nothing, after_linear::relu, after_linear::tanh};

TEST_CASE("a small linear map equals ATen's to its third derivatives, with and without an activation after it") {
  for (linear_case const& one : linear_cases())
    for (after_linear const next : activations) {
      INFO(one.name << ", activation " << static_cast<int>(next));
      auto const expected = derivatives(atens_before(next), leaves_of(one.inputs, at::kDouble), 3);
      for (auto const& [type, tolerance, orders] :
           {std::tuple(at::kDouble, 1e-12, 3), std::tuple(at::kFloat, 5e-4, 2)}) {
        auto const leaves = leaves_of(one.inputs, type);
        CHECK(redco::kernel::cpu::is_small_linear(leaves[0], leaves[1], leaves.size() > 2 ? leaves[2] : at::Tensor()));
        auto const found = derivatives(ours_before(next), leaves, orders);
        REQUIRE(found.size() == 1 + static_cast<std::size_t>(orders) * leaves.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          INFO("tensor " << i << ", " << type);
          CHECK(found[i].sizes() == expected[i].sizes());
          CHECK(error(found[i].detach(), expected[i].detach()) < tolerance);
        }
      }
    }
}

TEST_CASE("an activation after a linear map has the same bits in one node and in two, recorded or not, small or not") {
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  for (linear_case const& one : linear_cases())
    for (auto const& [next, most] : {std::pair(after_linear::relu, 1 << 20), std::pair(after_linear::relu, 0),
                                     std::pair(after_linear::tanh, 1 << 20), std::pair(after_linear::tanh, 0)}) {
      INFO(one.name << ", activation " << static_cast<int>(next) << ", at most " << most);
      forced_small_work const limit(most);
      bool const relu = next == after_linear::relu;
      auto const activation = [&](at::Tensor const& x) {
        return relu ? redco::kernel::relu(x) : redco::kernel::tanh(x);
      };
      auto const leaves = leaves_of(one.inputs, at::kFloat);
      auto const fused = ours_before(next);
      at::Tensor const found = fused(leaves), expected = activation(ours(leaves));
      CHECK(found.equal(expected));
      CHECK((found.min().item<double>() == 0) == relu);
      CHECK((found.grad_fn()->name() == "fused_linear") == (most > 0));
      auto const g = numbers(found.sizes().vec(), 0.4, at::kFloat);
      auto const slopes = torch::autograd::grad({found}, leaves, {g}),
                 expected_slopes = torch::autograd::grad({expected}, leaves, {g});
      for (std::size_t i = 0; i < slopes.size(); ++i) CHECK(slopes[i].equal(expected_slopes[i]));
      at::NoGradGuard const unrecorded;
      CHECK(fused(leaves).equal(activation(ours(leaves))));
    }
}

TEST_CASE("activations run in place on products of any size without autograd, and on no other products") {
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  for (auto const& [type, size] : {std::pair(at::kFloat, 7), std::pair(at::kDouble, 7), std::pair(at::kBFloat16, 7),
                                   std::pair(at::kFloat, 40'001)})
    for (after_linear const next : {after_linear::relu, after_linear::tanh}) {
      INFO(type << ", " << size << " elements, activation " << static_cast<int>(next));
      at::Tensor const product = numbers({size}, 0.3, type), copy = product.clone();
      at::Tensor const found = redco::kernel::activated(product, next);
      CHECK(found.is_same(product));
      CHECK(found.equal(next == after_linear::relu ? redco::kernel::relu(copy) : redco::kernel::tanh(copy)));
      at::Tensor const recorded = copy.clone().requires_grad_();
      CHECK(redco::kernel::activated(recorded, next).equal(found));
      CHECK(recorded.equal(copy));
    }
}

TEST_CASE("derivatives of a small linear map agree with central differences") {
  for (linear_case const& one : linear_cases())
    for (after_linear const next : {after_linear::nothing, after_linear::tanh}) {
      INFO(one.name << ", activation " << static_cast<int>(next));
      auto const leaves = leaves_of(one.inputs, at::kDouble);
      CHECK(gradcheck::first(ours_before(next), leaves) < 1e-8);
      CHECK(gradcheck::second(ours_before(next), leaves) < 1e-7);
    }
}

TEST_CASE("a gradient of a small linear map for only the bias, the weight or the input equals ATen's") {
  auto const inputs = linear_cases().front().inputs;
  for (after_linear const next : {after_linear::nothing, after_linear::tanh})
    for (std::size_t const only : {0U, 1U, 2U}) {
      INFO("activation " << static_cast<int>(next) << ", only input " << only);
      auto const slope = [&](auto const& f) {
        auto leaves = leaves_of(inputs, at::kDouble);
        at::Tensor const y = f(leaves);
        auto const g = torch::autograd::grad({y.pow(3).sum()}, {leaves[only]}, {}, true, true)[0];
        return torch::autograd::grad({g.square().sum()}, leaves, {}, false, false, true);
      };
      auto const found = slope(ours_before(next)), expected = slope(atens_before(next));
      for (std::size_t i = 0; i < found.size(); ++i) {
        REQUIRE(found[i].defined() == expected[i].defined());
        if (found[i].defined()) CHECK(error(found[i], expected[i]) < 1e-12);
      }
    }
}

TEST_CASE("a small linear map is one node in each order and calls no operator of ATen") {
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  auto const leaves = leaves_of(linear_cases().front().inputs, at::kFloat);
  auto const g = numbers({10, 9}, 0.4, at::kFloat).requires_grad_();
  tensor_list const u{numbers({10, 5}, 0.6, at::kFloat), numbers({9, 5}, 0.9, at::kFloat),
                      numbers({9}, 1.9, at::kFloat)};
  at::Tensor y;
  {
    operator_count const count;
    y = ours(leaves);
    CHECK(count.operators() == 0);
  }
  tensor_list first;
  {
    operator_count const count;
    first = torch::autograd::grad({y}, leaves, {g}, true, true);
    CHECK(count.all().nodes == std::map<std::string, int>{{"fused_linear", 1}});
    CHECK(count.operators() == 0);
  }
  {
    operator_count const count;
    torch::autograd::grad(first, {g, leaves[0], leaves[1]}, u);
    CHECK(count.all().nodes == std::map<std::string, int>{{"fused_linear_gradients", 1}});
    CHECK(count.operators() == 0);
  }
  at::NoGradGuard const unrecorded;
  CHECK(!ours({numbers({40, 5}, 0.2, at::kFloat), leaves[1], leaves[2]}).requires_grad());
}

TEST_CASE("a small linear map and its tanh are one node in each order and call no operator of ATen") {
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  auto const leaves = leaves_of(linear_cases().front().inputs, at::kFloat);
  auto const g = numbers({10, 9}, 0.4, at::kFloat).requires_grad_();
  tensor_list const u{numbers({10, 5}, 0.6, at::kFloat), numbers({9, 5}, 0.9, at::kFloat),
                      numbers({9}, 1.9, at::kFloat)};
  using counts = std::map<std::string, int>;
  operator_count const count;
  at::Tensor const y = ours_before(after_linear::tanh)(leaves);
  tensor_list const first = torch::autograd::grad({y}, leaves, {g}, true, true);
  CHECK(count.all().nodes == counts{{"fused_linear", 1}});
  torch::autograd::grad(first, {g}, u, true);
  CHECK(count.all().nodes == counts{{"fused_linear", 1}, {"fused_linear_gradients", 1}});
  CHECK(count.operators() == 0);
  // y depends on x and W, so backward of the map runs again.
  torch::autograd::grad(first, {g, leaves[0], leaves[1]}, u);
  CHECK(count.all().nodes == counts{{"fused_linear", 2}, {"fused_linear_gradients", 2}});
}

TEST_CASE("a linear map above the limit of small work equals ATen's to the bit") {
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  auto const leaves = leaves_of(linear_cases().front().inputs, at::kFloat);  // 10 x 5 x 9 products
  auto const name = [&](std::int64_t most) {
    forced_small_work const limit(most);
    return ours(leaves).grad_fn()->name();
  };
  CHECK(name(450) == "fused_linear");
  CHECK(name(449) == "AddmmBackward0");
  forced_small_work const none(0);
  CHECK(ours(leaves).equal(atens(leaves)));
}

TEST_CASE("a linear map of medium size equals ATen's to its second derivatives, in one node") {
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  tensor_list const inputs{numbers({5, 67, 64}, 0.1), numbers({96, 64}, 0.7), numbers({96}, 1.3)};
  for (bool const with_bias : {true, false}) {
    tensor_list some = inputs;
    if (!with_bias) some.pop_back();
    auto const expected = derivatives(atens, leaves_of(some, at::kDouble), 2);
    for (auto const& [type, tolerance] : {std::pair(at::kDouble, 1e-11), std::pair(at::kFloat, 5e-3)}) {
      auto const leaves = leaves_of(some, type);
      CHECK(ours(leaves).grad_fn()->name() == "fused_linear");
      auto const found = derivatives(ours, leaves, 2);
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        INFO("tensor " << i << ", " << type << ", bias " << with_bias);
        at::Tensor const exact = expected[i].detach();
        CHECK((found[i].detach().to(at::kDouble) - exact).abs().max().item<double>() <
              tolerance * (1 + exact.abs().max().item<double>()));
      }
    }
  }
  auto const name = [&](at::Tensor const& x, std::int64_t out, std::int64_t in) {
    return redco::kernel::linear(x.to(at::kFloat).requires_grad_(), numbers({out, in}, 0.7, at::kFloat),
                                 numbers({out}, 1.3, at::kFloat))
        .grad_fn()
        ->name();
  };
  CHECK(name(numbers({700, 64}, 0.1), 64, 64) == "fused_linear");
  CHECK(name(numbers({700, 64}, 0.1), 65, 64) == "AddmmBackward0");
  redco::tensors::forced_f32_path const by_blas(redco::tensors::f32_path::blas);
  CHECK(name(numbers({700, 288}, 0.1), 288, 288) == "AddmmBackward0");
  forced_small_work const none(0);
  CHECK(name(numbers({700, 64}, 0.1), 64, 64) == "AddmmBackward0");
}

TEST_CASE("a linear map whose tensor_list do not fit each other is refused with libtorch's message") {
  std::string words;
  try {
    redco::kernel::linear(numbers({4, 7}, 0.1), numbers({3, 5}, 0.2));
  } catch (c10::Error const& e) {
    words = e.what();
  }
  CHECK(words.find("mat1 and mat2 shapes cannot be multiplied (4x7 and 5x3)") != std::string::npos);
  CHECK_THROWS(redco::kernel::linear(numbers({4, 5}, 0.1), numbers({3, 5}, 0.2), numbers({2}, 0.3)));
}

}  // namespace fused_linear_test
