#include "torch_catch.hpp"

#include "gradcheck.hpp"
#include "operator_count.hpp"

#include <redco/kernel/gradient_step.hpp>
#include <redco/tensor/kernel_set.hpp>

#include <map>
#include <string>
#include <vector>

// One step of gradient descent over many tensors, against ATen's operators.

namespace gradient_step_test {

using gradcheck::tensor_list;

tensor_list some(double phase, at::ScalarType type) {
  tensor_list all;
  for (std::vector<std::int64_t> const& sizes : std::vector<std::vector<std::int64_t>>{{7, 5}, {5}, {1}, {3, 2, 4}})
    all.push_back(gradcheck::weights_for(at::empty(sizes, at::kDouble), phase + 0.1 * static_cast<double>(all.size()))
                      .to(type)
                      .requires_grad_());
  return all;
}

tensor_list by_operators(tensor_list const& parameters, tensor_list const& gradients, double rate) {
  tensor_list all;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    all.push_back(gradients[i].defined() ? at::sub(parameters[i], gradients[i], rate) : parameters[i]);
  return all;
}

TEST_CASE("a gradient step is p - rate g to the bit, in every dtype and on both kernel sets") {
  for (auto const set : {redco::tensors::kernel_set::fastest, redco::tensors::kernel_set::composed})
    for (auto const type : {at::kFloat, at::kDouble, at::kBFloat16}) {
      redco::tensors::forced_kernel_set const forced(set);
      INFO(name_of(set) << ' ' << type);
      auto const p = some(0.2, type), g = some(1.4, type);
      auto const found = redco::kernel::gradient_step(p, g, 0.03), expected = by_operators(p, g, 0.03);
      for (std::size_t i = 0; i < p.size(); ++i) {
        CHECK(found[i].sizes() == p[i].sizes());
        CHECK(found[i].equal(expected[i]));
      }
    }
}

TEST_CASE("a gradient step is differentiable like the operators that it replaces") {
  auto const slopes = [](auto const& step) {
    auto const p = some(0.2, at::kDouble), g = some(1.4, at::kDouble);
    tensor_list leaves = p;
    leaves.insert(leaves.end(), g.begin(), g.end());
    at::Tensor sum = at::zeros({}, at::kDouble);
    for (at::Tensor const& one : step(p, g, 0.03)) sum = sum + one.pow(3).sum();
    tensor_list const first = torch::autograd::grad({sum}, leaves, {}, true, true);
    sum = at::zeros({}, at::kDouble);
    for (at::Tensor const& one : first) sum = sum + one.square().sum();
    tensor_list all = torch::autograd::grad({sum}, leaves);
    all.insert(all.end(), first.begin(), first.end());
    return all;
  };
  auto const found = slopes(redco::kernel::gradient_step), expected = slopes(by_operators);
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(at::allclose(found[i], expected[i], 1e-13, 1e-13));
}

TEST_CASE("a gradient step is one node, calls no operator and allocates one buffer") {
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  auto const p = some(0.2, at::kFloat), g = some(1.4, at::kFloat);
  tensor_list next;
  {
    operator_count const count;
    next = redco::kernel::gradient_step(p, g, 0.1);
    CHECK(count.operators() == 0);
  }
  for (at::Tensor const& one : next) {
    CHECK(one.storage().data() == next.front().storage().data());
    CHECK(one.grad_fn() == next.front().grad_fn());
    CHECK(!one.is_view());
  }
  operator_count const count;
  torch::autograd::grad(next, p, g);
  CHECK(count.all().nodes == std::map<std::string, int>{{"gradient_step", 1}});
  CHECK(count.operators() == 0);
}

TEST_CASE("a parameter without a gradient is unchanged") {
  auto const p = some(0.2, at::kFloat);
  auto g = some(1.4, at::kFloat);
  g[1].reset();
  auto const next = redco::kernel::gradient_step(p, g, 0.1);
  CHECK(next[1].is_same(p[1]));
  CHECK(!next[2].equal(p[2]));
  CHECK(redco::kernel::gradient_step({}, {}, 0.1).empty());
}

}  // namespace gradient_step_test
