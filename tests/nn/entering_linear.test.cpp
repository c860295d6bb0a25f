#include "comm/values.hpp"
#include "torch_catch.hpp"

#include <redco/nn/detail/entering_linear.hpp>
#include <redco/comm/ranks.hpp>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

// A product whose gradients of weights are made while that of its input is summed over the shards.

namespace entering_linear_test {

using comm_test::must;
using namespace redco;

at::Tensor numbers(at::IntArrayRef sizes, at::ScalarType type, double seed) {
  at::Tensor const n = at::arange(c10::multiply_integers(sizes), at::kDouble) * 0.7310585 + seed;
  return (n.sin() * 0.5).view(sizes).to(type);
}

struct gradients {
  at::Tensor product;
  std::vector<at::Tensor> of;
};

enum class second { no, yes };

/// The product of this rank's x, and the gradients of x, weight and bias of a sum of its squares, or of the squares of those.
gradients made(rank_context& me, comm::lane* sums, at::ScalarType type, bool with_bias, bool frozen, second order) {
  at::Tensor const x = numbers({3, 17, 6}, type, 0.1).requires_grad_();
  at::Tensor const weight = numbers({10, 6}, type, 0.2 + me.rank).requires_grad_(!frozen);
  at::Tensor const bias = with_bias ? numbers({10}, type, 0.3 + me.rank).requires_grad_() : at::Tensor();
  at::Tensor product;
  if (sums != nullptr) {
    product = redco::detail::overlapped_linear(x * 1, weight, bias, me.tp, *sums).product;
  } else {
    product = kernel::linear(enter(tensor<replicated>(x * 1), me.tp).local(), weight, bias);
  }
  std::vector<at::Tensor> wanted{x};
  if (!frozen) wanted.push_back(weight);
  if (with_bias) wanted.push_back(bias);
  at::Tensor loss = product.square().sum();
  if (order == second::yes) {
    auto const first = torch::autograd::grad({loss}, wanted, {}, std::nullopt, true);
    loss = at::zeros({}, x.options());
    for (at::Tensor const& one : first) loss = loss + one.square().sum();
  }
  return {product.detach(), torch::autograd::grad({loss}, wanted)};
}

TEST_CASE("its product and gradients have the bits of a product behind enter") {
  for (at::ScalarType const type : {at::kDouble, at::kFloat, at::kBFloat16})
    for (bool const with_bias : {false, true})
      for (bool const frozen : {false, true})
        run_ranks({.tp = 3}, {}, [&](rank_context& me) {
          gradients const expected = made(me, nullptr, type, with_bias, frozen, second::no);
          gradients const found = made(me, &me.lane(axis::tp), type, with_bias, frozen, second::no);
          must(at::equal(found.product, expected.product), "product");
          must(found.of.size() == expected.of.size(), "as many gradients");
          for (std::size_t i = 0; i < found.of.size(); ++i)
            must(at::equal(found.of[i], expected.of[i]), "gradient " + std::to_string(i));
        });
}

TEST_CASE("its gradients can be differentiated again") {
  run_ranks({.tp = 2}, {}, [&](rank_context& me) {
    gradients const expected = made(me, nullptr, at::kDouble, true, false, second::yes);
    gradients const found = made(me, &me.lane(axis::tp), at::kDouble, true, false, second::yes);
    for (std::size_t i = 0; i < found.of.size(); ++i)
      must(at::allclose(found.of[i], expected.of[i], 1e-12, 1e-12), "gradient " + std::to_string(i));
  });
}

TEST_CASE("gradients of weights do not wait for the sum") {
  std::atomic<bool> weight_is_through = false;
  run_ranks({.tp = 2}, {}, [&](rank_context& me) {
    at::Tensor const x = numbers({40, 6}, at::kFloat, 0.1).requires_grad_();
    at::Tensor const weight = numbers({10, 6}, at::kFloat, 0.2).requires_grad_();
    at::Tensor const product =
        redco::detail::overlapped_linear(x * 1, weight, {}, me.tp, me.lane(axis::tp)).product.square().sum();
    if (me.rank == 0) weight.register_hook([&](at::Tensor const&) { weight_is_through = true; });
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (me.rank == 1 && !weight_is_through && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    must(me.rank == 0 || weight_is_through, "the gradient of the other weight is there");
    product.backward();
  });
}

}  // namespace entering_linear_test
