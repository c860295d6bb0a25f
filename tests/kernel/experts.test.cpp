#include "torch_catch.hpp"

#include "cpu_launcher.hpp"
#include "gradcheck.hpp"
#include "operator_count.hpp"
#include "tested_device.hpp"

#include <redco/kernel/experts.hpp>
#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/diag/error.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

// Grouped products and rows of experts, against one product per expert.

namespace experts_test {

using redco::kernel::expert_offsets;

at::Tensor numbers(std::vector<std::int64_t> const& sizes, double phase, at::ScalarType type = at::kDouble) {
  return (gradcheck::weights_for(at::empty(sizes, at::kDouble), phase) / 2).to(type);
}

/// Numbers of rows of each expert: equal and uneven loads, experts without rows, all rows at one
/// expert, more rows than a tile, and no rows at all.
std::vector<std::vector<std::int64_t>> const all_loads{{3, 3, 3}, {1, 7, 2}, {0, 4, 0}, {9, 0, 0},
                                                       {5},       {0, 0, 6}, {0, 0, 0}, {600, 1, 300}};

expert_offsets offsets_of(std::vector<std::int64_t> const& loads) {
  expert_offsets offsets{0};
  for (std::int64_t const load : loads) offsets.push_back(offsets.back() + load);
  return offsets;
}

/// Returns the products in f64, one expert after the other.
at::Tensor expected_products(at::Tensor const& x, std::vector<at::Tensor> const& weights,
                             expert_offsets const& offsets) {
  std::vector<at::Tensor> rows;
  for (std::size_t e = 0; e + 1 < offsets.size(); ++e) {
    std::vector<at::Tensor> columns;
    for (at::Tensor const& weight : weights)
      columns.push_back(x.slice(0, offsets[e], offsets[e + 1]).mm(weight[static_cast<std::int64_t>(e)].t()));
    rows.push_back(at::cat(columns, 1));
  }
  return at::cat(rows);
}

double largest_error(at::Tensor const& found, at::Tensor const& expected) {
  if (found.numel() == 0) return found.sizes() == expected.sizes() ? 0 : 1e300;
  return ((found.to(at::kDouble) - expected).abs() / (1 + expected.abs())).max().item<double>();
}

/// Compares values and gradients of a grouped product of `type` on `device` with products in f64.
void compare(std::vector<std::int64_t> const& loads, std::vector<std::int64_t> const& outs, std::int64_t in,
             at::ScalarType type, double tolerance, at::Device device = at::kCPU) {
  std::int64_t const rows = std::accumulate(loads.begin(), loads.end(), std::int64_t{0});
  auto const experts = static_cast<std::int64_t>(loads.size());
  INFO(c10::toString(type) << " rows " << rows << " experts " << experts << " products " << outs.size());
  expert_offsets const offsets = offsets_of(loads);
  std::vector<at::Tensor> leaves{numbers({rows, in}, 0.3, type).to(device)}, exact;
  for (std::int64_t const out : outs)
    leaves.push_back(numbers({experts, out, in}, 0.9 + static_cast<double>(out), type).to(device));
  for (at::Tensor& x : leaves) {
    x.requires_grad_();
    exact.push_back(x.detach().cpu().to(at::kDouble).requires_grad_());
  }
  at::Tensor const y = redco::kernel::grouped_linear(leaves[0], {leaves.begin() + 1, leaves.end()}, offsets);
  at::Tensor const expected = expected_products(exact[0], {exact.begin() + 1, exact.end()}, offsets);
  CHECK(y.scalar_type() == type);
  CHECK(largest_error(y.detach().cpu(), expected.detach()) < tolerance);
  at::Tensor const g = numbers(y.sizes().vec(), 2.1, type);
  y.backward(g.to(device));
  expected.backward(g.to(at::kDouble));
  for (std::size_t i = 0; i < leaves.size(); ++i)
    CHECK(largest_error(leaves[i].grad().cpu(), exact[i].grad()) < tolerance);
}

}  // namespace experts_test

using namespace experts_test;

TEST_CASE("a grouped product equals one product per expert, with empty experts and without rows") {
  for (auto const& loads : all_loads)
    for (auto const& outs : std::vector<std::vector<std::int64_t>>{{5}, {300}, {4, 4}, {3, 2, 6}}) {
      compare(loads, outs, 7, at::kDouble, 1e-13);
      compare(loads, outs, 16, at::kFloat, 1e-4);
      compare(loads, outs, 16, at::kBFloat16, 3e-2);
    }
}

TEST_CASE("the composed grouped product equals the CPU kernel's") {
  redco::tensors::forced_kernel_set const composed(redco::tensors::kernel_set::composed);
  for (auto const& loads : all_loads) compare(loads, {4, 4}, 7, at::kDouble, 1e-13);
}

TEST_CASE("a grouped product on CUDA devices equals one product per expert, with empty experts and without rows") {
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  cpu_launcher launcher(1);
  redco::tensors::kernel_launcher::forced const forced(launcher);
  for (auto const& loads : all_loads)
    for (auto const& outs : std::vector<std::vector<std::int64_t>>{{8}, {304}, {8, 8}, {8, 16, 8}, {5}, {8, 3}}) {
      compare(loads, outs, 7, at::kBFloat16, 3e-2);
      compare(loads, outs, 16, at::kFloat, 1e-4);
      compare(loads, outs, 16, at::kBFloat16, 3e-2);
    }
}

TEST_CASE("a grouped product on the tested device equals one product per expert") {
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  for (auto const& loads : all_loads)
    for (auto const& outs : std::vector<std::vector<std::int64_t>>{{304}, {8, 16, 8}, {8, 3}}) {
      compare(loads, outs, 16, at::kFloat, 1e-4, tested_device());
      compare(loads, outs, 16, at::kBFloat16, 3e-2, tested_device());
    }
}

TEST_CASE("a grouped product on CUDA devices has the second derivatives of the reference") {
  gradcheck::tensor_list const inputs{numbers({5, 8}, 0.2, at::kFloat), numbers({3, 8, 8}, 0.7, at::kFloat),
                                      numbers({3, 16, 8}, 1.9, at::kFloat)};
  auto const second = [&] {
    gradcheck::tensor_list leaves;
    for (at::Tensor const& x : inputs) leaves.push_back(x.clone().requires_grad_());
    at::Tensor const y = redco::kernel::grouped_linear(leaves[0], {leaves[1], leaves[2]}, {0, 2, 2, 5});
    at::Tensor total = at::zeros({});
    for (at::Tensor const& d : torch::autograd::grad({y.square().sum()}, leaves, {}, true, true))
      total = total + (d * gradcheck::weights_for(d.detach(), 0.7)).sum();
    return torch::autograd::grad({total}, leaves);
  };
  redco::tensors::forced_kernel_set const composed(redco::tensors::kernel_set::composed);
  gradcheck::tensor_list const expected = second();
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  cpu_launcher launcher(1);
  redco::tensors::kernel_launcher::forced const forced(launcher);
  gradcheck::tensor_list const found = second();
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(largest_error(found[i], expected[i].to(at::kDouble)) < 1e-5);
}

TEST_CASE("a grouped product in bf16 on CUDA devices takes as many operators for many experts as for few") {
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  cpu_launcher launcher(1);
  redco::tensors::kernel_launcher::forced const forced(launcher);
  auto const grouped_and_all = [](std::int64_t experts) {
    auto const leaf = [](std::vector<std::int64_t> const& sizes) {
      return numbers(sizes, 0.3, at::kBFloat16).requires_grad_();
    };
    at::Tensor const x = leaf({4 * experts, 16}), gate = leaf({experts, 8, 16}), up = leaf({experts, 8, 16});
    expert_offsets const offsets = offsets_of(std::vector<std::int64_t>(static_cast<std::size_t>(experts), 4));
    operator_count const count;
    redco::kernel::grouped_linear(x, {gate, up}, offsets).sum().backward();
    auto const all = count.all().operators;
    // ATen's grouped product of the CPU runs operators for each expert
    int others = 0;
    for (char const* const name : {"aten::narrow", "aten::cat", "aten::contiguous", "aten::add_"})
      if (auto const found = all.find(name); found != all.end()) others += found->second;
    return std::pair(all.at("aten::_grouped_mm"), others);
  };
  CHECK(grouped_and_all(4) == grouped_and_all(64));
  CHECK(grouped_and_all(4).first == 6);
}

TEST_CASE("a grouped product is differentiable to the second order") {
  expert_offsets const offsets{0, 2, 2, 5};
  auto const f = [&](gradcheck::tensor_list const& x) {
    return redco::kernel::grouped_linear(x[0], {x[1], x[2]}, offsets);
  };
  gradcheck::tensor_list const inputs{numbers({5, 3}, 0.2).requires_grad_(), numbers({3, 2, 3}, 0.7).requires_grad_(),
                                      numbers({3, 4, 3}, 1.9).requires_grad_()};
  CHECK(gradcheck::first(f, inputs) < 1e-7);
  CHECK(gradcheck::second(f, inputs) < 1e-6);
}

TEST_CASE("a grouped product refuses shapes that do not fit, with exit code 70") {
  at::Tensor const x = numbers({4, 3}, 0.1), weight = numbers({2, 5, 3}, 0.2);
  auto const refuses = [&](at::Tensor const& rows, std::vector<at::Tensor> const& weights, expert_offsets const& at) {
    try {
      redco::kernel::grouped_linear(rows, weights, at);
      return false;
    } catch (redco::error const& e) {
      return e.code() == redco::exit_code::internal &&
             std::string(e.what()).find("grouped_linear of rows") != std::string::npos;
    }
  };
  CHECK(!refuses(x, {weight}, {0, 1, 4}));
  CHECK(refuses(x, {weight}, {0, 1, 3}));
  CHECK(refuses(x, {weight}, {0, 5, 4}));
  CHECK(refuses(x, {weight}, {0, 1, 2, 4}));
  CHECK(refuses(x, {}, {0, 1, 4}));
  CHECK(refuses(x, {weight, weight, weight, weight, weight}, {0, 1, 4}));
  CHECK(refuses(x.to(at::kFloat), {weight}, {0, 1, 4}));
  CHECK(refuses(x, {numbers({2, 5, 4}, 0.2)}, {0, 1, 4}));
}

TEST_CASE("rows that are spread and combined are those of each token, weighted") {
  for (auto const set : {redco::tensors::kernel_set::fastest, redco::tensors::kernel_set::composed})
    for (auto const type : {at::kDouble, at::kFloat, at::kBFloat16})
      for (std::int64_t const tokens : {0, 1, 6})
        for (std::int64_t const copies : {1, 3}) {
          redco::tensors::forced_kernel_set const forced(set);
          double const tolerance = type == at::kDouble ? 1e-14 : type == at::kFloat ? 1e-6 : 2e-2;
          std::int64_t const rows = tokens * copies, width = 270;
          at::Tensor const slots = (at::arange(rows, at::kLong) * 7 + 2).remainder(std::max<std::int64_t>(rows, 1));
          if (rows % 7 == 0 && rows > 0) continue;
          at::Tensor const x = numbers({tokens, width}, 0.4, type);
          at::Tensor const spread = redco::kernel::spread_rows(x, slots, copies);
          REQUIRE(spread.size(0) == rows);
          for (std::int64_t i = 0; i < rows; ++i) CHECK(spread[slots[i].item<std::int64_t>()].equal(x[i / copies]));
          at::Tensor const weights = numbers({tokens, copies}, 1.3, type == at::kDouble ? at::kDouble : at::kFloat);
          at::Tensor const back = redco::kernel::combine_rows(spread, weights, slots, copies);
          at::Tensor const expected = x.to(at::kDouble) * weights.to(at::kDouble).sum(1, true);
          CHECK(back.scalar_type() == type);
          CHECK(largest_error(back, expected) < tolerance);
          CHECK(largest_error(redco::kernel::combine_rows(spread, {}, slots, copies),
                              x.to(at::kDouble) * static_cast<double>(copies)) < tolerance);
        }
}

TEST_CASE("spreading, combining and choosing rows are differentiable to the second order") {
  at::Tensor const slots = at::tensor({3, 0, 5, 1, 2, 4}, at::kLong);
  at::Tensor const chosen = at::tensor({1, 3, 0, 2, 3, 1}, at::kLong).view({3, 2});
  auto const spread = [&](gradcheck::tensor_list const& x) { return redco::kernel::spread_rows(x[0], slots, 2); };
  auto const combine = [&](gradcheck::tensor_list const& x) {
    return redco::kernel::combine_rows(x[0], x[1], slots, 2);
  };
  auto const unweighted = [&](gradcheck::tensor_list const& x) {
    return redco::kernel::combine_rows(x[0], {}, slots, 2);
  };
  auto const columns = [&](gradcheck::tensor_list const& x) { return redco::kernel::chosen_columns(x[0], chosen); };
  auto const scores = [](gradcheck::tensor_list const& x) { return redco::kernel::router_scores(x[0], x[1]); };
  auto const check = [](auto const& f, gradcheck::tensor_list const& inputs) {
    CHECK(gradcheck::first(f, inputs) < 1e-7);
    CHECK(gradcheck::second(f, inputs) < 1e-6);
  };
  check(spread, {numbers({3, 4}, 0.2).requires_grad_()});
  check(unweighted, {numbers({6, 4}, 0.2).requires_grad_()});
  check(combine, {numbers({6, 4}, 0.2).requires_grad_(), numbers({3, 2}, 1.1).requires_grad_()});
  check(columns, {numbers({3, 4}, 0.6).requires_grad_()});
  check(scores, {numbers({3, 4}, 0.2).requires_grad_(), numbers({5, 4}, 0.8).requires_grad_()});
}

TEST_CASE("a router multiplies in f32, and its gradients have the dtypes of its inputs") {
  at::Tensor const x = numbers({4, 64}, 0.2, at::kBFloat16).requires_grad_(),
                   weight = numbers({5, 64}, 0.9, at::kBFloat16).requires_grad_();
  at::Tensor const y = redco::kernel::router_scores(x, weight);
  CHECK(y.scalar_type() == at::kFloat);
  CHECK(largest_error(y.detach(), x.detach().to(at::kDouble).mm(weight.detach().to(at::kDouble).t())) < 1e-5);
  y.sum().backward();
  CHECK(x.grad().scalar_type() == at::kBFloat16);
  CHECK(weight.grad().scalar_type() == at::kBFloat16);
}

TEST_CASE("an extra loss adds its gradient once, whatever the gradient of the value") {
  at::Tensor const y = numbers({3}, 0.2).requires_grad_(), p = numbers({2}, 0.5).requires_grad_();
  at::Tensor const z = redco::kernel::with_extra_loss(y, (p * p).sum());
  CHECK(z.equal(y));
  (z * 5).sum().backward();
  CHECK(y.grad().equal(at::full({3}, 5, at::kDouble)));
  CHECK(largest_error(p.grad(), 2 * p.detach()) < 1e-15);
}
