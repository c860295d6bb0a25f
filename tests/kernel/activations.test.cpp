#include "torch_catch.hpp"

#include <redco/kernel/activations.hpp>
#include <redco/kernel/cpu/small_relu.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/diag/error.hpp>

#include "gradcheck.hpp"
#include "operator_count.hpp"

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

struct activation_case {
  std::string name;
  std::function<at::Tensor(at::Tensor const&)> ours, reference;
};

std::vector<activation_case> const activation_cases{
    {"gelu tanh", [](at::Tensor const& x) { return redco::kernel::gelu(x); },
     [](at::Tensor const& x) { return at::gelu(x, "tanh"); }},
    {"gelu erf", [](at::Tensor const& x) { return redco::kernel::gelu(x, redco::kernel::gelu_form::erf); },
     [](at::Tensor const& x) { return at::gelu(x, "none"); }},
    {"gelu logistic", [](at::Tensor const& x) { return redco::kernel::gelu(x, redco::kernel::gelu_form::logistic); },
     [](at::Tensor const& x) { return x * at::sigmoid(1.702 * x); }},
    {"silu", [](at::Tensor const& x) { return redco::kernel::silu(x); },
     [](at::Tensor const& x) { return at::silu(x); }},
    {"relu", [](at::Tensor const& x) { return redco::kernel::relu(x); },
     [](at::Tensor const& x) { return at::relu(x); }},
    {"tanh", [](at::Tensor const& x) { return redco::kernel::tanh(x); },
     [](at::Tensor const& x) { return at::tanh(x); }},
    {"swiglu", [](at::Tensor const& x) { return redco::kernel::swiglu(x); },
     [](at::Tensor const& x) { return at::silu(x.chunk(2, -1)[0]) * x.chunk(2, -1)[1]; }},
};

// Returns value and gradient of f at x in f64, for an uneven incoming gradient.
std::pair<at::Tensor, at::Tensor> activation_results(std::function<at::Tensor(at::Tensor const&)> const& f,
                                                     at::Tensor const& x) {
  auto const leaf = x.detach().requires_grad_();
  auto const y = f(leaf);
  auto const g = gradcheck::weights_for(y.detach().to(at::kDouble), 0.4).to(x.scalar_type());
  return {y.detach().to(at::kDouble), torch::autograd::grad({y}, {leaf}, {g})[0].to(at::kDouble)};
}

// Returns the largest difference divided by 1 + |expected|.
double activation_error(at::Tensor const& found, at::Tensor const& expected) {
  return ((found - expected).abs() / (1 + expected.abs())).max().item().toDouble();
}

}  // namespace

TEST_CASE("activations and their gradients equal ATen's in f64, on odd and on strided shapes") {
  auto const wide = at::linspace(-12, 12, 7 * 5 * 38, at::kDouble).view({7, 5, 38});
  for (auto const& [name, ours, reference] : activation_cases)
    for (auto const& x : {wide, wide.transpose(0, 1), wide.slice(2, 2, 36), wide.slice(0, 0, 0)}) {
      INFO(name << " " << x.sizes() << " strides " << x.strides());
      auto const a = activation_results(ours, x), b = activation_results(reference, x);
      REQUIRE(a.first.sizes() == b.first.sizes());
      if (x.numel() == 0) continue;
      CHECK(activation_error(a.first, b.first) < 1e-13);
      CHECK(activation_error(a.second, b.second) < 1e-13);
    }
}

TEST_CASE("activations in f32 and bf16 equal f64 up to rounding, from minus to plus a thousand") {
  auto const middle = at::linspace(-15, 15, 9 * 1234, at::kDouble).view({9, 1234});
  for (auto const& [name, ours, reference] : activation_cases)
    for (auto const& [dtype, bound] : {std::pair(at::kFloat, 2e-6), std::pair(at::kBFloat16, 1.2e-2)})
      for (double const factor : {1.0, 70.0}) {
        INFO(name << " " << dtype << " times " << factor);
        auto const x = (middle * factor).to(dtype);
        auto const a = activation_results(ours, x), b = activation_results(reference, x.to(at::kDouble));
        CHECK(activation_error(a.first, b.first) < bound);
        CHECK(activation_error(a.second, b.second) < bound);
      }
}

TEST_CASE("activations propagate NaN") {
  for (auto const& [name, ours, reference] : activation_cases)
    for (auto const dtype : {at::kFloat, at::kBFloat16, at::kDouble}) {
      INFO(name << " " << dtype);
      auto const x = at::full({3, 34}, 0.5, dtype);
      x[1][3].fill_(std::nan(""));
      auto const y = ours(x);
      CHECK(y.isnan().sum().item().toLong() == 1);
      CHECK(y[1][3].isnan().item().toBool());
    }
}

TEST_CASE("an activation of an element does not depend on the position of the element") {
  auto const x = at::linspace(-5, 5, 333, at::kFloat);
  for (auto const& [name, ours, reference] : activation_cases) {
    if (name == "swiglu") continue;
    INFO(name);
    auto const whole = ours(x);
    CHECK(at::equal(whole.slice(0, 7, 300), ours(x.slice(0, 7, 300))));
    CHECK(at::equal(whole.slice(0, 330), ours(x.slice(0, 330))));
  }
}

TEST_CASE("activations are differentiable twice") {
  auto const x = (at::linspace(-3, 3, 12, at::kDouble).view({2, 6}) + 0.05).requires_grad_();
  for (auto const& [name, ours, reference] : activation_cases) {
    INFO(name);
    auto const f = [&ours = ours](gradcheck::tensor_list const& inputs) { return ours(inputs[0]); };
    CHECK(gradcheck::first(f, {x}) < 1e-7);
    CHECK(gradcheck::second(f, {x}) < 1e-6);
  }
}

TEST_CASE("swiglu refuses an input without two halves") {
  CHECK_THROWS_AS(redco::kernel::swiglu(at::ones({2, 3})), redco::error);
}

TEST_CASE("relu of few elements has ATen's bits, including signs of zero and NaN, and is one node in each order") {
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  for (auto const type : {at::kFloat, at::kDouble}) {
    auto const x = at::tensor({-2.0, -0.0, 0.0, 3.5, NAN, INFINITY, -INFINITY, 1e-30}, type).requires_grad_();
    auto const g = at::tensor({1.0, NAN, 3.0, 4.0, 5.0, 6.0, NAN, 8.0}, type).requires_grad_();
    auto const bits = [](at::Tensor const& t) {
      return t.detach().view(t.scalar_type() == at::kFloat ? at::kInt : at::kLong).clone();
    };
    auto const found = redco::kernel::relu(x), expected = at::relu(x);
    CHECK(found.grad_fn()->name() == "small_relu");
    CHECK(bits(found).equal(bits(expected)));
    at::Tensor first;
    {
      operator_count const count;
      first = torch::autograd::grad({found}, {x}, {g}, true, true)[0];
      CHECK(count.all().nodes == std::map<std::string, int>{{"small_relu", 1}});
    }
    auto const theirs = torch::autograd::grad({expected}, {x}, {g}, true, true)[0];
    CHECK(bits(first).equal(bits(theirs)));
    for (at::Tensor const& one : {first, theirs}) CHECK(one.requires_grad());
    CHECK(bits(torch::autograd::grad({first}, {g}, {g}, true, true)[0])
              .equal(bits(torch::autograd::grad({theirs}, {g}, {g}, true, true)[0])));
  }
  auto const many = at::ones({redco::kernel::cpu::small_elements + 1}).requires_grad_();
  CHECK(redco::kernel::relu(many).grad_fn()->name() == "ReluBackward0");
}

TEST_CASE("tanh in f32 equals f64 to two units in the last place, from the smallest number on") {
  auto const sizes = at::pow(10.0, at::linspace(-38, 2, 80'003, at::kDouble));
  auto const x = at::cat({sizes, -sizes, at::linspace(-2, 2, 60'001, at::kDouble)}).to(at::kFloat);
  auto const expected = at::tanh(x.to(at::kDouble));
  auto const unit = at::nextafter(expected.to(at::kFloat).abs(), at::full({}, 2.0F)).to(at::kDouble) -
                    expected.to(at::kFloat).abs().to(at::kDouble);
  auto const found = redco::kernel::tanh(x);
  CHECK(((found.to(at::kDouble) - expected).abs() / unit).max().item<double>() < 2);
  CHECK(found.abs().max().item<double>() == 1);
}

TEST_CASE("tanh is one node that saves its result and calls no operator of ATen") {
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  auto const x = at::linspace(-2, 2, 35).view({5, 7}).requires_grad_();
  operator_count const count;
  auto const y = redco::kernel::tanh(x);
  CHECK(count.operators() == 0);
  y.backward(y.detach());
  CHECK(count.all().nodes == std::map<std::string, int>{{"tanh", 1}, {"torch::autograd::AccumulateGrad", 1}});
}
