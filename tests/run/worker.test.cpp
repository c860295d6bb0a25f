#include "torch_catch.hpp"

#include "mlp.hpp"

#include <redco/run/worker.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/optimizer/adam.hpp>
#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/schedules.hpp>
#include <redco/optimizer/sgd.hpp>

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

struct teacher {
  using net = redco::sequential<redco::named<"up", redco::linear<3, 8>>, redco::relu,
                                redco::named<"down", redco::linear<8, 2>>>;
  redco::no_config config;
  constexpr redco::extents input(redco::workload const& load) const { return {load.batch, 3}; }
};
struct student {
  using net = redco::sequential<redco::named<"up", redco::linear<3, 4>>, redco::tanh_layer,
                                redco::named<"down", redco::linear<4, 2>>>;
  redco::no_config config;
  constexpr redco::extents input(redco::workload const& load) const { return {load.batch, 3}; }
};

/// What a program keeps besides its networks.
struct memory {
  std::vector<double> seen;
  std::string last;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(seen, last);
  }
};

struct outcome {
  std::vector<double> losses;  ///< of the teacher and the student in turn
  run_test::tensors state;
  memory kept;
};

/// A teacher learns a map, a student what a copy of the teacher said some steps ago, to step `steps`; a signal comes behind
/// step `stop`.
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

}  // namespace

TEST_CASE("a worker trains several networks alike on every mesh") {
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

TEST_CASE("a worker's gradients may be summed while backward runs: the same bits") {
  outcome behind, meanwhile;
  for (bool const overlap : {false, true}) {
    temporary_folder const folder;
    redco::deployer_options where = in(folder.path, {.dp = 2});
    where.overlap = overlap;
    where.gradient_bucket = 72.0 / 1024 / 1024;
    learn(where, 9, overlap ? meanwhile : behind);
  }
  CHECK(meanwhile.losses == behind.losses);
  CHECK(run_test::bit_equal(meanwhile.state, behind.state));
}

TEST_CASE("what a worker updates learns") {
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

TEST_CASE("a worker stopped by a signal goes on as if nothing had been, with networks, optimizers and objects") {
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

TEST_CASE("networks of one seed and one shape draw different numbers, and a copy the same") {
  temporary_folder const folder;
  run_test::silence const quiet;
  redco::deployer deployer(in(folder.path));
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = 1});
    auto& a = worker.add("a", teacher{}, redco::sgd{});
    auto& b = worker.add("b", teacher{}, redco::sgd{});
    auto& copy = worker.add_copy("c", a);
    CHECK_FALSE(at::equal(a.store.find("up.weight")->value, b.store.find("up.weight")->value));
    for (redco::stored_parameter const& p : copy.store.parameters())
      CHECK(at::equal(p.value, a.store.find(p.name)->value));
    CHECK(copy.store.regions().trained() == 0);
  });
}

TEST_CASE("a follower moves its share of the way to its leader, or all of it") {
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

TEST_CASE("values that are set are those of forward and of updates, in every type") {
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
      if (!set || !refused) throw std::runtime_error("the values are not those that were set");
    });
  }
}

TEST_CASE("names of networks and objects are their own, and a checkpoint of others is refused") {
  temporary_folder const folder;
  redco::deployer_options where = in(folder.path);
  where.resume = "auto";
  auto const run = [&](auto&& body) {
    return code_of([&] {
      run_test::silence const quiet;
      redco::deployer deployer(where);
      deployer.run([&](redco::rank_context& rank) {
        redco::worker worker(deployer, rank, {.steps = 1});
        body(worker);
      });
    });
  };
  std::vector<int> numbers{1, 2, 3};
  CHECK(run([](redco::worker& w) {
          w.add("a", teacher{}, redco::sgd{});
          w.add("a", student{}, redco::sgd{});
        }) == 64);
  CHECK(run([&](redco::worker& w) {
          w.keep("x", numbers);
          w.keep("x", numbers);
        }) == 64);
  CHECK(run([](redco::worker& w) { w.add("a", teacher{}, redco::sgd{.lr = -1}); }) == 64);
  CHECK(run([&](redco::worker& w) {
          w.add("a", teacher{}, redco::sgd{});
          w.keep("x", numbers);
          w.end_step();
        }) == 0);
  std::string text;
  CHECK(run([&](redco::worker& w) {
          w.add("a", teacher{}, redco::sgd{});
          w.keep("x", text);
          w.resume();
        }) == 65);
  CHECK(run([&](redco::worker& w) {
          w.add("b", teacher{}, redco::sgd{});
          w.keep("x", numbers);
          w.resume();
        }) == 65);
  numbers.clear();
  CHECK(run([&](redco::worker& w) {
          w.add("a", teacher{}, redco::sgd{});
          w.keep("x", numbers);
          w.resume();
          CHECK(w.finished());
        }) == 0);
  CHECK(numbers == std::vector<int>{1, 2, 3});
}

/// The rates of a loop in which network "a" is updated 16 times in each of 4 steps and "b" 3 times,
/// and how far each bias moves under a gradient of 1.
struct paced {
  std::vector<double> rates_of_a, rates_of_b;
  double moved_a = 0, moved_b = 0;
};

paced pace(redco::deployer_options const& where, redco::learning_rate const& of_a, redco::learning_rate const& of_b) {
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

TEST_CASE("schedules count a worker's steps, however many updates each network has in one") {
  temporary_folder const folder;
  redco::learning_rate const falls = redco::linear_decay{.peak = 0.008},
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

/// Losses of a loop with three Adam updates per step, to the end or to a signal after step `stop`.
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

TEST_CASE("a resumed worker goes on with each network's number of updates") {
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

TEST_CASE("a resumed worker tells which settings are not its checkpoint's, as a fit does") {
  temporary_folder const folder;
  redco::deployer_options where = in(folder.path);
  where.resume = "auto";
  struct told {
    std::int64_t warnings;
    std::string log;
  };
  auto const run = [&](double lr, std::int64_t steps, std::string const& config, redco::learning_rate const& schedule) {
    run_test::silence const quiet;
    redco::deployer deployer(where);
    deployer.run([&](redco::rank_context& rank) {
      redco::worker worker(deployer, rank, {.steps = steps, .save_every = 1, .config = config});
      worker.add("actor", teacher{}, redco::adam{.lr = lr});
      worker.add("critic", student{}, redco::sgd{.lr = schedule});
      worker.resume();
      while (!worker.finished()) worker.end_step();
    });
    return told{deployer.log().warnings(), quiet.text.str()};
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
  told const changed = run(0.5, 2, R"({"discount":0.9,"batch":64})", falls);
  CHECK(changed.warnings == 1);
  CHECK(changed.log.find(
            "other settings than its checkpoint: actor.optimizer.lr is 0.5, was 0.02; batch is 64, was 128; "
            "critic.optimizer.lr at step 1 is 0.25, was 0.5; critic.optimizer.lr at the end is 0.25, was 0.5; "
            "critic.optimizer.lr halfway is 0.25, was 0.5; discount is 0.9, was 0.98\n") != std::string::npos);
  told const longer = run(0.02, 3, options, still);
  CHECK(longer.warnings == 1);
  CHECK(longer.log.find("steps is 3, was 2\n") != std::string::npos);
}

TEST_CASE("a network of somebody else's is refused by name in an update, and one of another kind as a leader") {
  temporary_folder const folder;
  run_test::silence const quiet;
  redco::deployer deployer(in(folder.path));
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = 1}), other(deployer, rank, {.steps = 1});
    auto& own = worker.add("own", teacher{}, redco::sgd{});
    auto& small = worker.add("small", student{}, redco::sgd{});
    auto& strange = other.add("strange", teacher{}, redco::sgd{});
    redco::trained_network<teacher> loose(teacher{}, redco::plan_of(teacher{}, rank.mesh), redco::sgd{},
                                          deployer.compute(), 1, rank.rank);
    loose.store.publish();
    redco::pass const in = worker.pass(0, 1);
    at::Tensor const x = at::ones({1, 3}, at::kDouble);
    for (auto* const network : {&strange, &loose}) {
      try {
        worker.update(*network, {network->in(in)(x).sum(), 1});
        FAIL("updated");
      } catch (redco::error const& e) {
        CHECK(static_cast<int>(e.code()) == 70);
        CHECK(std::string(e.what()).find("which has \"own\", \"small\"") != std::string::npos);
      }
    }
    CHECK(code_of([&] { redco::worker::follow(own, small); }) == 70);
  });
}

TEST_CASE("lengths that a worker cannot have are refused") {
  temporary_folder const folder;
  run_test::silence const quiet;
  redco::deployer deployer(in(folder.path));
  deployer.run([&](redco::rank_context& rank) {
    for (redco::worker_options const& wrong : {redco::worker_options{.steps = 0},
                                               {.steps = -3},
                                               {.steps = 1, .save_every = -1},
                                               {.steps = 1, .keep_last = -1}})
      CHECK(code_of([&] { redco::worker(deployer, rank, wrong); }) == 64);
  });
}

}  // namespace worker_test
