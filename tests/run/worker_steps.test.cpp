#include "torch_catch.hpp"

#include "mlp.hpp"
#include "teacher.hpp"

#include <redco/run/worker.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace worker_test {

using run_test::code_of;
using run_test::in;

/// Learning rates of a loop of 4 steps, and the change of each bias under a gradient of 1. In each
/// step network "a" is updated 16 times and "b" 3 times.
struct paced {
  std::vector<double> rates_of_a, rates_of_b;
  double moved_a = 0, moved_b = 0;
};

paced pace(redco::deployer_options const& where, redco::optimizer::learning_rate const& of_a,
           redco::optimizer::learning_rate const& of_b) {
  run_test::silence const quiet;
  redco::deployer deployer(where);
  paced result;
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = 4});
    auto& a = worker.add("a", teacher{}, redco::sgd{.lr = of_a, .momentum = 0});
    auto& b = worker.add("b", student{}, redco::adam{.lr = of_b});
    at::Tensor const x = at::ones({1, 3}, at::kDouble);
    auto const bias = [](auto const& network) {
      return network.store.find("down.bias")->master[0].template item<double>();
    };
    double const from_a = bias(a), from_b = bias(b);
    for (; !worker.finished(); worker.end_step()) {
      redco::pass const in = worker.pass(rank.dp_index(), 1);
      for (int i = 0; i < 16; ++i) {
        double const lr = worker.update(a, {a.in(in)(x).sum(), 1}).lr;
        if (rank.rank == 0) result.rates_of_a.push_back(lr);
      }
      for (int i = 0; i < 3; ++i) {
        double const lr = worker.update(b, {b.in(in)(x).sum(), 1}).lr;
        if (rank.rank == 0) result.rates_of_b.push_back(lr);
      }
    }
    if (rank.rank != 0) return;
    result.moved_a = bias(a) - from_a;
    result.moved_b = bias(b) - from_b;
  });
  return result;
}

TEST_CASE("schedules count a worker's steps, for any number of updates of a network per step") {
  temporary_folder const folder;
  redco::optimizer::learning_rate const falls = redco::linear_decay{.peak = 0.008},
                                        rises = redco::cosine{.peak = 0.25, .warmup = 2};
  paced const run = pace(in(folder.path, {.dp = 2}), falls, rises);
  std::vector<double> a, b;
  for (double const rate : {0.008, 0.006, 0.004, 0.002}) a.insert(a.end(), 16, rate);
  for (double const rate : {0.0, 0.125, 0.25, 0.125})
    b.insert(b.end(), 3, rate);  // the cosine is halfway down in step 4
  REQUIRE(run.rates_of_a.size() == a.size());
  REQUIRE(run.rates_of_b.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(run.rates_of_a[i] == Approx(a[i]).epsilon(1e-12));
  for (std::size_t i = 0; i < b.size(); ++i) CHECK(run.rates_of_b[i] == Approx(b[i]).epsilon(1e-12));
  CHECK(run.moved_a == Approx(-16 * 0.02).epsilon(1e-9));
  // Adam under a constant gradient moves by the rate in each update, if its bias corrections count
  // the network's updates.
  CHECK(run.moved_b == Approx(-3 * 0.5).epsilon(1e-6));
}

/// Returns the losses of a loop with three Adam updates per step, to the end or to a signal after
/// step `stop`.
std::vector<double> thrice(redco::deployer_options const& where, std::int64_t stop, std::vector<double>& losses) {
  run_test::silence const quiet;
  redco::deployer deployer(where);
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = 5});
    auto& net = worker.add("net", teacher{}, redco::adam{.lr = redco::linear_decay{.peak = 0.02}});
    for (worker.resume(); !worker.finished(); worker.end_step()) {
      redco::pass const in = worker.pass(0, 2);
      at::Tensor const x = at::sin(at::arange(6, at::kDouble).view({2, 3}) + static_cast<double>(worker.step()));
      for (int i = 0; i < 3; ++i) losses.push_back(worker.update(net, {(net.in(in)(x)-1).square().sum(), 2}).loss);
      if (worker.step() + 1 == stop) std::raise(SIGTERM);
    }
  });
  return losses;
}

TEST_CASE("a resumed worker continues each network's number of updates") {
  run_test::plain_signals const plain;
  temporary_folder const whole, parted;
  redco::deployer_options where = in(whole.path);
  where.resume = "auto";
  std::vector<double> unbroken, again;
  thrice(where, 0, unbroken);
  where.workdir = parted.path;
  CHECK(code_of([&] { thrice(where, 2, again); }) == 75);
  CHECK(redco::workdir::read_manifest(parted.path / "ckpts/last").updates.at("net") == 6);
  thrice(where, 0, again);
  CHECK(again == unbroken);
}

TEST_CASE("a resumed worker lists settings that differ from its checkpoint's, as a fit does") {
  temporary_folder const folder;
  redco::deployer_options where = in(folder.path);
  where.resume = "auto";
  struct printed_log {
    std::int64_t warnings;
    std::string log;
  };
  auto const run = [&](double lr, std::int64_t steps, std::string const& config,
                       redco::optimizer::learning_rate const& schedule) {
    run_test::silence const quiet;
    redco::deployer deployer(where);
    deployer.run([&](redco::rank_context& rank) {
      redco::worker worker(deployer, rank, {.steps = steps, .save_every = 1, .config = config});
      worker.add("actor", teacher{}, redco::adam{.lr = lr});
      worker.add("critic", student{}, redco::sgd{.lr = schedule});
      worker.resume();
      while (!worker.finished()) worker.end_step();
    });
    return printed_log{deployer.log().warnings(), quiet.text.str()};
  };
  auto const still = [](std::int64_t, std::int64_t) { return 0.5; };
  auto const falls = [](std::int64_t step, std::int64_t) { return step < 1 ? 0.5 : 0.25; };
  std::string const options = R"({"discount":0.98,"batch":128,"workdir":"a"})";
  CHECK(run(0.02, 2, options, still).warnings == 0);
  auto const saved = redco::workdir::read_manifest(folder.path / "ckpts/last");
  CHECK(saved.config.at("actor.optimizer.lr") == "0.02");
  CHECK(saved.config.at("critic.optimizer.lr") == "function");
  CHECK(saved.config.at("discount") == "0.98");
  CHECK(saved.config.at("steps") == "2");
  CHECK_FALSE(saved.config.contains("workdir"));
  CHECK(content_of(folder.path / "config.json").find("\"batch\": 128") != std::string::npos);

  CHECK(run(0.02, 2, R"({"discount":0.98,"batch":128,"workdir":"b"})", still).warnings == 0);
  printed_log const changed = run(0.5, 2, R"({"discount":0.9,"batch":64})", falls);
  CHECK(changed.warnings == 1);
  CHECK(changed.log.find(
            "settings that differ from the checkpoint's: actor.optimizer.lr is 0.5, was 0.02; batch is 64, was 128; "
            "critic.optimizer.lr at step 1 is 0.25, was 0.5; critic.optimizer.lr at the end is 0.25, was 0.5; "
            "critic.optimizer.lr halfway is 0.25, was 0.5; discount is 0.9, was 0.98\n") != std::string::npos);
  printed_log const longer = run(0.02, 3, options, still);
  CHECK(longer.warnings == 1);
  CHECK(longer.log.find("steps is 3, was 2\n") != std::string::npos);
}

}  // namespace worker_test
