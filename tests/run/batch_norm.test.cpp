#include "mlp.hpp"

#include <redco/run/worker.hpp>
#include <redco/data/batches.hpp>
#include <redco/data/sampler.hpp>
#include <redco/layer/norms.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <cstdint>
#include <string>
#include <vector>

// Whole runs of a network with batch norm: equal on every mesh, with running statistics in
// checkpoints.

namespace {

using namespace redco;

/// A network without a bias before batch norm. The gradient of such a bias is only rounding noise,
/// which Adam would turn into steps.
struct normed {
  using net = sequential<named<"in", linear<5, 12, false>>, named<"norm", batch_norm<12>>, relu,
                         named<"up", linear<12, 6>>, relu, named<"down", linear<6, 3>>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, 5}; }
};
using options = run_test::options_of<normed, decltype(run_test::mlp_pipeline())>;

options of_steps(std::int64_t max_steps, std::int64_t global_batch = 4, std::int64_t micro_batch = 0) {
  options o;
  o.epochs = 3;
  o.max_steps = max_steps;
  o.global_batch = global_batch;
  o.micro_batch = micro_batch;
  o.eval = run_test::numbers(5);
  return o;
}

run_test::outcome fit(deployer_options const& where, options const& o, std::vector<std::int64_t> const& data) {
  return run_test::fit(where, normed{}, run_test::mlp_pipeline(), data, o);
}

void check_same(run_test::outcome const& run, run_test::outcome const& expected) {
  REQUIRE(run.code == 0);
  REQUIRE(expected.code == 0);
  CHECK(run_test::difference(expected.losses, run.losses) < 1e-10);
  if (!expected.evaluation.empty())
    CHECK(run.evaluation.at("loss") == Approx(expected.evaluation.at("loss")).epsilon(1e-10));
  for (std::string const name : {"norm.running_mean", "norm.running_variance"})
    CHECK(at::allclose(run.state.at(name), expected.state.at(name), 1e-10, 1e-10));
}

// 14 examples, 4 at a time: the last batch of an epoch has two examples, so a third replica has
// none.
TEST_CASE("a network with batch norm trains equally on every mesh, even if a replica has no examples") {
  temporary_folder folder;
  auto const one = fit(run_test::in(folder.path), of_steps(0), run_test::numbers(14));
  REQUIRE(one.losses.size() == 12);
  CHECK_FALSE(one.state.at("norm.running_mean").eq(0).any().item<bool>());
  CHECK_FALSE(one.state.contains("optimizer.m.norm.running_mean"));
  for (mesh const& on : {mesh{.dp = 2}, {.tp = 2}, {.dp = 3}, {.dp = 2, .tp = 2}}) {
    INFO(on.dp << "x" << on.tp);
    temporary_folder other;
    check_same(fit(run_test::in(other.path, on), of_steps(0), run_test::numbers(14)), one);
  }
}

TEST_CASE("a loss of several terms and batch norm communicate in one order, even on a replica without examples") {
  auto const two_terms = run_test::mlp_collate() | loss([](auto const& net, run_test::mlp_batch const& b) {
                           at::Tensor const y = net(b.x), each = run_test::losses_of(y, b);
                           return terms{{{"class", {each.sum(), static_cast<double>(b.labels.size(0))}, 1},
                                         {"size", {(y * y).sum(), static_cast<double>(y.numel())}, 0.1}}};
                         });
  auto const fit_terms = [&](mesh const& on) {
    temporary_folder folder;
    run_test::options_of<normed, decltype(two_terms)> o;
    o.global_batch = 4;
    return run_test::fit(run_test::in(folder.path, on), normed{}, two_terms, run_test::numbers(14), o);
  };
  auto const one = fit_terms({.dp = 1}), three = fit_terms({.dp = 3});
  INFO(three.reason);
  check_same(three, one);
}

TEST_CASE("running statistics are in checkpoints: a run resumed on another mesh equals the unbroken one") {
  temporary_folder whole, broken;
  auto const unbroken = fit(run_test::in(whole.path), of_steps(0), run_test::numbers(14));
  auto where = run_test::in(broken.path, {.dp = 2});
  where.resume = "auto";
  auto const first = fit(where, of_steps(6), run_test::numbers(14));
  where.mesh = {.dp = 1};
  auto second = fit(where, of_steps(0), run_test::numbers(14));
  REQUIRE(second.losses.size() == 6);
  second.losses.insert(second.losses.begin(), first.losses.begin(), first.losses.end());
  check_same(second, unbroken);
}

// Ten examples on two replicas, three at a time. The rounds have the indices {0, 1, 2, 5, 6, 7} and
// {3, 4, 8, 9} of the epoch. One replica that computes six at a time has the same rounds if its
// examples are in that order.
TEST_CASE("statistics cover a round of micro-batches if it is not the global batch, and the run says so") {
  temporary_folder one, two;
  std::vector<std::int64_t> const positions{0, 1, 2, 5, 6, 7, 3, 4, 8, 9};
  redco::data::sampler const order(10, deployer_options{}.seed);
  std::vector<std::int64_t> data(10);
  for (std::int64_t q = 0; q < 10; ++q)
    data[static_cast<std::size_t>(order.at(0, q))] = order.at(0, positions[static_cast<std::size_t>(q)]);
  auto const expected = fit(run_test::in(one.path), of_steps(1, 10, 6), data);
  auto const found = fit(run_test::in(two.path, {.dp = 2}), of_steps(1, 10, 3), run_test::numbers(10));
  check_same(found, expected);
  CHECK(found.log.find("batch norm takes its statistics over 6 examples, not over the global batch of 10") !=
        std::string::npos);
}

/// Returns the state of a worker's network after two updates. `parts_of(rank)` returns the rank's
/// index ranges of six examples; `order` has the row of each index.
template <class PartsOf>
run_test::tensors state_of_worker(mesh const& on, std::vector<std::int64_t> const& order, PartsOf const& parts_of) {
  temporary_folder const folder;
  run_test::silence const quiet;
  deployer_options where = run_test::in(folder.path, on);
  where.deadline = 20;
  deployer deployer(where);
  run_test::tensors state;
  int const code = run_test::code_of([&] {
    deployer.run([&](rank_context& rank) {
      worker worker(deployer, rank, {.steps = 2});
      auto& net = worker.add("net", normed{}, sgd{.lr = 0.1, .momentum = 0.5});
      for (worker.resume(); !worker.finished(); worker.end_step())
        worker.update(net, parts_of(rank.dp_index()), [&](pass const& in) {
          auto const first = order.begin() + in.first_example;
          at::Tensor const rows = at::tensor(std::vector<std::int64_t>(first, first + in.examples));
          at::Tensor const x = at::sin(rows.to(at::kDouble).unsqueeze(1) * 0.7 + at::arange(5, at::kDouble) * 1.3);
          return mean{net.in(in)(x).pow(2).sum(), static_cast<double>(in.examples)};
        });
      if (rank.rank == 0) run_test::add_state(state, net.parts());
    });
  });
  CHECK(code == 0);
  return state;
}

TEST_CASE("a worker's batch norm takes statistics over each round of uneven micro-batches of all ranks") {
  using parts = std::vector<data::interval>;
  // The first round has the examples 0, 1, 4 and 5; in the second one, rank 1 has no micro-batch.
  auto const two = state_of_worker({.dp = 2}, {0, 1, 2, 3, 4, 5}, [](int rank) {
    return rank == 0 ? parts{{0, 2}, {2, 4}} : parts{{4, 6}};
  });
  auto const one = state_of_worker({.dp = 1}, {0, 1, 4, 5, 2, 3}, [](int) { return parts{{0, 4}, {4, 6}}; });
  REQUIRE(one.size() == two.size());
  REQUIRE(one.contains("net.norm.running_mean"));
  for (auto const& [name, value] : one) {
    INFO(name);
    CHECK(at::allclose(two.at(name), value, 1e-10, 1e-12));
  }
}

// Eleven examples, five at a time: the second round has one example on the first replica, and the
// second replica waits for it.
TEST_CASE("a single number per channel has no variance: the run ends with exit 64 on all replicas") {
  temporary_folder folder;
  auto const run = fit(run_test::in(folder.path, {.dp = 2}), of_steps(1, 11, 5), run_test::numbers(11));
  CHECK(run.code == static_cast<int>(exit_code::usage));
  CHECK(run_test::mentions(run, "a single number per channel"));
}

}  // namespace
