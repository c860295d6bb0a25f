#include "torch_catch.hpp"

#include "mlp.hpp"
#include "teacher.hpp"

#include <redco/run/worker.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace worker_test {

namespace {

using run_test::code_of;
using run_test::in;

/// Data that a program keeps in addition to its networks.
struct memory {
  std::vector<double> seen;
  std::string last;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(seen, last);
  }
};

struct outcome {
  std::vector<double> losses;  ///< losses of teacher and student in turn
  run_test::tensors state;
  memory kept;
};

/// Trains to step `steps`. A teacher learns a map; a student learns the earlier outputs of a copy
/// of the teacher. A signal arrives after step `stop`.
void learn(redco::deployer_options const& where, std::int64_t steps, outcome& result, std::int64_t stop = 0) {
  run_test::silence const quiet;
  redco::deployer deployer(where);
  std::mutex mutex;
  deployer.run([&](redco::rank_context& rank) {
    memory kept;
    redco::worker worker(deployer, rank, {.steps = steps});
    auto& first = worker.add("teacher", teacher{}, redco::adam{.lr = redco::linear_decay{.peak = 0.02}});
    auto& second = worker.add("student", student{}, redco::sgd{.lr = 0.1, .momentum = 0.5});
    auto& copy = worker.add_copy("copy", first);
    worker.keep("memory", kept);
    for (worker.resume(); !worker.finished(); worker.end_step()) {
      std::int64_t const all = 5, begin = all * rank.dp_index() / rank.mesh.dp,
                         end = all * (rank.dp_index() + 1) / rank.mesh.dp;
      at::Tensor const x =
          at::sin(at::arange(begin * 3, end * 3, at::kDouble).view({-1, 3}) + static_cast<double>(worker.step()));
      redco::pass const in = worker.pass(begin, end - begin);
      auto const n = static_cast<double>(end - begin);
      auto const error = [](at::Tensor const& y, at::Tensor const& wanted) { return (y - wanted).square().sum(); };
      auto const one = worker.update(first, {error(first.in(in)(x), x.narrow(1, 0, 2).flip(1)), n});
      auto const two = worker.update(second, {error(second.in(in)(x), copy.in(in)(x).detach()), n});
      kept.seen.push_back(one.loss);
      kept.last = std::to_string(worker.step());
      if (worker.step() % 3 == 2) worker.follow(first, copy, 0.75);
      if (rank.rank == 0) result.losses.insert(result.losses.end(), {one.loss, two.loss});
      if (worker.step() + 1 == stop && rank.rank == 0) std::raise(SIGTERM);
    }
    std::scoped_lock const lock(mutex);
    if (rank.rank == 0) result.kept = kept;
    if (rank.dp_index() > 0) return;
    for (auto const* network :
         {static_cast<redco::run::network_state const*>(&first), static_cast<redco::run::network_state const*>(&second),
          static_cast<redco::run::network_state const*>(&copy)})
      run_test::add_state(result.state, network->parts());
  });
}

struct dropping {
  using net = redco::sequential<redco::named<"up", redco::linear<3, 8>>, redco::dropout<redco::layers::real{0.5}>,
                                redco::named<"down", redco::linear<8, 2>>>;
  redco::no_config config;
};

}  // namespace

TEST_CASE("a worker trains several networks equally on every mesh") {
  outcome one;
  {
    temporary_folder const folder;
    learn(in(folder.path), 9, one);
  }
  CHECK(one.losses.size() == 18);
  CHECK(one.kept.seen.size() == 9);
  CHECK(one.kept.last == "8");
  for (redco::mesh const mesh : {redco::mesh{.dp = 2}, {.tp = 2}}) {
    temporary_folder const folder;
    outcome other;
    learn(in(folder.path, mesh), 9, other);
    CHECK(run_test::difference(other.losses, one.losses) < 1e-11);
  }
}

TEST_CASE("a worker's gradients have equal bits if they are summed while backward runs") {
  outcome sequential, overlapped;
  for (bool const overlap : {false, true}) {
    temporary_folder const folder;
    redco::deployer_options where = in(folder.path, {.dp = 2});
    where.overlap = overlap;
    where.gradient_bucket = 72.0 / 1024 / 1024;
    learn(where, 9, overlap ? overlapped : sequential);
  }
  CHECK(overlapped.losses == sequential.losses);
  CHECK(run_test::bit_equal(overlapped.state, sequential.state));
}

TEST_CASE("a worker drops by the example's index in the global batch on every mesh") {
  auto const losses_on = [](redco::mesh const& mesh) {
    temporary_folder const folder;
    run_test::silence const quiet;
    redco::deployer deployer(in(folder.path, mesh));
    std::vector<double> losses;
    deployer.run([&](redco::rank_context& rank) {
      redco::worker worker(deployer, rank, {.steps = 3});
      auto& net = worker.add("net", dropping{}, redco::sgd{.lr = 0.1});
      for (; !worker.finished(); worker.end_step()) {
        std::int64_t const begin = 5 * rank.dp_index() / rank.mesh.dp, end = 5 * (rank.dp_index() + 1) / rank.mesh.dp;
        // Equal rows, which only their positions distinguish
        at::Tensor const x = at::ones({end - begin, 3}, at::kDouble);
        redco::pass const in = worker.pass(begin, end - begin);
        auto const made = worker.update(net, {net.in(in)(x).square().sum(), static_cast<double>(end - begin)});
        if (rank.rank == 0) losses.push_back(made.loss);
      }
    });
    return losses;
  };
  std::vector<double> const alone = losses_on({});
  REQUIRE(alone.size() == 3);
  CHECK(run_test::difference(losses_on({.dp = 2}), alone) < 1e-11);
  CHECK(run_test::difference(losses_on({.dp = 5}), alone) < 1e-11);
}

TEST_CASE("a network that a worker updates learns") {
  temporary_folder const folder;
  outcome run;
  learn(in(folder.path), 80, run);
  auto const mean = [&](std::size_t from) {
    double sum = 0;
    for (std::size_t step = from; step < from + 10; ++step) sum += run.losses[2 * step];
    return sum / 10;
  };
  INFO(mean(0) << " in the first ten steps, " << mean(70) << " in the last");
  CHECK(mean(70) < 0.5 * mean(0));
}

TEST_CASE("a worker stopped by a signal resumes exactly, with networks, optimizers and objects") {
  run_test::plain_signals const plain;
  for (redco::mesh const mesh : {redco::mesh{.dp = 1}, {.dp = 2}, {.tp = 2}}) {
    temporary_folder const whole, parted;
    outcome unbroken, again;
    learn(in(whole.path, mesh), 9, unbroken);
    redco::deployer_options where = in(parted.path, mesh);
    where.resume = "auto";
    CHECK(code_of([&] { learn(where, 9, again, 4); }) == 75);
    CHECK(again.losses.size() == 8);
    learn(where, 9, again);
    CHECK(again.losses == unbroken.losses);
    CHECK(run_test::bit_equal(again.state, unbroken.state));
    CHECK(again.kept.seen == unbroken.kept.seen);
    CHECK(again.kept.last == "8");
  }
}

TEST_CASE("networks of one seed and one shape draw different numbers, and a copy has equal ones") {
  temporary_folder const folder;
  run_test::silence const quiet;
  redco::deployer deployer(in(folder.path));
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = 1});
    auto& a = worker.add("a", teacher{}, redco::sgd{});
    auto& b = worker.add("b", teacher{}, redco::sgd{});
    auto& copy = worker.add_copy("c", a);
    CHECK_FALSE(at::equal(a.store.find("up.weight")->value, b.store.find("up.weight")->value));
    for (redco::nn::stored_parameter const& p : copy.store.parameters())
      CHECK(at::equal(p.value, a.store.find(p.name)->value));
    CHECK(copy.store.regions().trained() == 0);
  });
}

TEST_CASE("a follower moves by its share towards its leader, or fully") {
  temporary_folder const folder;
  run_test::silence const quiet;
  redco::deployer deployer(in(folder.path));
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = 1});
    auto& leader = worker.add("leader", teacher{}, redco::sgd{});
    auto& follower = worker.add("follower", teacher{}, redco::sgd{});
    at::Tensor const goal = leader.store.find("up.weight")->value, value = follower.store.find("up.weight")->value;
    at::Tensor const before = value.detach().clone();
    redco::worker::follow(leader, follower, 0.75);
    CHECK(at::allclose(value, 0.25 * before + 0.75 * goal, 1e-6));
    CHECK_FALSE(at::equal(value, goal));
    redco::worker::follow(leader, follower);
    CHECK(at::equal(value, goal));
  });
}

TEST_CASE("values that are set are used by forward and by updates, in every type") {
  for (redco::dtype const compute : {redco::dtype::f64, redco::dtype::bf16}) {
    temporary_folder const folder;
    run_test::silence const quiet;
    redco::deployer_options where = in(folder.path, {.tp = 2});
    where.dtype = compute;
    redco::deployer deployer(where);
    deployer.run([&](redco::rank_context& rank) {
      redco::worker worker(deployer, rank, {.steps = 1});
      auto& one = worker.add("one", teacher{}, redco::sgd{});
      std::vector<at::Tensor> values;
      for (at::Tensor const& p : one.net->parameters()) values.push_back(at::full_like(p, 0.5));
      one.set_values(values);
      bool const set = one.store.masters().eq(0.5).all().item<bool>() && one.store.values().eq(0.5).all().item<bool>();
      values.pop_back();
      bool const refused = code_of([&] { one.set_values(values); }) == 70;
      if (!set || !refused) throw std::runtime_error("does not hold: the values are those that were set");
    });
  }
}

TEST_CASE("values of frozen parameters that are set in bf16 reach their f32 copies, which checkpoints save") {
  temporary_folder const folder;
  run_test::silence const quiet;
  redco::deployer_options where = in(folder.path, {.tp = 2});
  where.dtype = redco::dtype::bf16;
  redco::deployer deployer(where);
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = 1});
    auto& one = worker.add("one", teacher{}, redco::sgd{}, {"up.*"});
    std::vector<at::Tensor> values;
    for (at::Tensor const& p : one.net->parameters()) values.push_back(at::full_like(p, 0.25));
    one.set_values(values);
    for (redco::nn::stored_parameter const& p : one.store.parameters())
      if (!p.master.eq(0.25).all().item<bool>() || !p.value.eq(0.25).all().item<bool>())
        throw std::runtime_error("does not hold: " + p.name + " has the value that was set");
  });
}

}  // namespace worker_test
