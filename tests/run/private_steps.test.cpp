#include "torch_catch.hpp"

#include "mlp.hpp"
#include "teacher.hpp"

#include <redco/run/worker.hpp>
#include <redco/nn/example_norms.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/random/normal.hpp>
#include <redco/random/stream.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

// Tests private steps of a worker: clipped gradients of single examples and noise.

namespace worker_test {

using run_test::in;

struct private_settings {
  double clip = 3, deviation = 0;
  /// Examples of each step: none in step 1, and other numbers on each replica in the others
  std::vector<std::vector<std::int64_t>> drawn = {{2, 3, 5, 8, 13}, {}, {1, 4, 9}};
  int zero = 0;  ///< level of ZeRO
};

constexpr double expected = 4;  // examples of a step

at::Tensor private_losses(at::Tensor const& y, std::vector<std::int64_t> const& numbers) {
  at::Tensor const n = at::tensor(numbers, at::kDouble).unsqueeze(1);
  return (y - at::cat({n.sin(), n * 0.2}, 1)).square().sum(1);
}

at::Tensor private_inputs(std::vector<std::int64_t> const& numbers) {
  return at::sin(at::tensor(numbers, at::kDouble).unsqueeze(1) * at::tensor({0.3, 0.7, 1.9}, at::kDouble));
}

/// Takes private steps with a learning rate of 1, and returns the state. One loss is far larger
/// than the others.
run_test::tensors take_steps(redco::mesh const& mesh, private_settings const& how) {
  temporary_folder const folder;
  run_test::silence const quiet;
  redco::deployer_options where = in(folder.path, mesh);
  where.zero = how.zero;
  redco::deployer deployer(where);
  std::mutex mutex;
  run_test::tensors state;
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = std::ssize(how.drawn)});
    auto& net = worker.add("net", teacher{}, redco::sgd{.lr = 1.0, .momentum = 0});
    net.noise = {how.deviation, 77};
    for (; !worker.finished(); worker.end_step()) {
      auto const& drawn = how.drawn[static_cast<std::size_t>(worker.step())];
      auto parts = worker.micro_batches(std::ssize(drawn), 2);
      if (parts.empty()) parts.emplace_back();
      double const share = expected / rank.mesh.dp / static_cast<double>(parts.size());
      worker.update(net, parts, [&](redco::pass const& in) {
        if (in.examples == 0) return redco::mean{0 * net.network().parameters().front().sum(), share};
        std::vector<std::int64_t> const own(drawn.begin() + in.first_example,
                                            drawn.begin() + in.first_example + in.examples);
        redco::nn::example_norms norms(net.network(), in);
        at::Tensor const losses = private_losses(net.in(norms.watched())(private_inputs(own)), own);
        return redco::mean{norms.clipped(losses, how.clip), share};
      });
    }
    std::scoped_lock const lock(mutex);
    if (rank.dp_index() == 0 || how.zero > 0) run_test::add_state(state, net.parts());
  });
  return state;
}

double largest_difference(run_test::tensors const& a, run_test::tensors const& b) {
  double most = a.size() == b.size() ? 0 : 1;
  for (auto const& [name, x] : a) most = std::max(most, (x - b.at(name)).abs().max().item<double>());
  return most;
}

TEST_CASE("private steps are equal on every mesh, also if a step draws no example") {
  private_settings const how{.deviation = 0.2};
  run_test::tensors const one = take_steps({.dp = 1}, how);
  REQUIRE(one.size() == 4);
  for (redco::mesh const mesh : {redco::mesh{.dp = 2}, {.dp = 3}, {.tp = 2}, {.dp = 2, .tp = 2}})
    CHECK(largest_difference(take_steps(mesh, how), one) < 1e-13);
}

TEST_CASE("private steps are equal if each replica keeps a share of the state") {
  private_settings how{.deviation = 0.2};
  run_test::tensors const one = take_steps({.dp = 1}, how);
  for (int const level : {1, 2})
    for (redco::mesh const mesh : {redco::mesh{.dp = 2}, {.dp = 3}, {.dp = 2, .tp = 2}}) {
      how.zero = level;
      CHECK(largest_difference(take_steps(mesh, how), one) < 1e-13);
    }
}

TEST_CASE("noise is normal numbers keyed by the element, added once and divided by the expected batch") {
  private_settings const silent{.drawn = {{}}}, loud{.deviation = 0.5, .drawn = {{}}};
  for (redco::mesh const mesh : {redco::mesh{.dp = 1}, {.dp = 2, .tp = 2}}) {
    run_test::tensors const before = take_steps(mesh, silent), after = take_steps(mesh, loud);
    for (auto const& [name, x] : after) {
      auto const key = redco::random::make_stream(redco::random::seed_of(77, "gradient noise"),
                                                  redco::random::site_of(name.substr(4)), 0, 0);
      at::Tensor const moved = (before.at(name) - x).flatten();
      for (std::int64_t i = 0; i < moved.numel(); ++i)
        CHECK(moved[i].item<double>() ==
              Approx(0.5 * redco::random::normal_at(key, static_cast<std::uint64_t>(i)) / expected).margin(1e-14));
    }
  }
}

TEST_CASE("each step has its own noise") {
  private_settings const one{.deviation = 0.5, .drawn = {{}}}, two{.deviation = 0.5, .drawn = {{}, {}}};
  run_test::tensors const none = take_steps({}, {.drawn = {{}}}), first = take_steps({}, one),
                          second = take_steps({}, two);
  for (auto const& [name, x] : none)
    CHECK((second.at(name) - first.at(name) - first.at(name) + x).abs().min().item<double>() > 1e-6);
}

TEST_CASE("a private step moves parameters by clipped gradients of single examples") {
  run_test::tensors const before = take_steps({}, {.drawn = {{}}});
  std::vector<at::Tensor> leaves;
  for (char const* const name : {"net.up.weight", "net.up.bias", "net.down.weight", "net.down.bias"})
    leaves.push_back(before.at(name).clone().requires_grad_());
  std::vector<std::int64_t> const drawn{2, 3, 5, 8, 13};
  std::vector<at::Tensor> wanted;
  for (at::Tensor const& leaf : leaves) wanted.push_back(leaf.detach().clone());
  int clipped = 0;
  for (std::int64_t const number : drawn) {
    at::Tensor const hidden = at::linear(private_inputs({number}), leaves[0], leaves[1]).relu();
    auto const gradients =
        torch::autograd::grad({private_losses(at::linear(hidden, leaves[2], leaves[3]), {number}).sum()}, leaves);
    double square = 0;
    for (at::Tensor const& g : gradients) square += g.square().sum().item<double>();
    double const norm = std::sqrt(square), most = private_settings{}.clip;
    INFO(norm);
    CHECK(std::abs(norm - most) > 0.1);
    clipped += norm > most;
    for (std::size_t i = 0; i < leaves.size(); ++i) wanted[i] -= gradients[i] * std::min(1.0, most / norm) / expected;
  }
  REQUIRE(clipped > 0);
  REQUIRE(clipped < 5);
  run_test::tensors const after = take_steps({}, {.drawn = {drawn}});
  CHECK(at::allclose(after.at("net.up.weight"), wanted[0], 1e-12, 1e-14));
  CHECK(at::allclose(after.at("net.up.bias"), wanted[1], 1e-12, 1e-14));
  CHECK(at::allclose(after.at("net.down.weight"), wanted[2], 1e-12, 1e-14));
  CHECK(at::allclose(after.at("net.down.bias"), wanted[3], 1e-12, 1e-14));
}

}  // namespace worker_test
