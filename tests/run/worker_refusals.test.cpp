#include "torch_catch.hpp"

#include "mlp.hpp"
#include "teacher.hpp"

#include <redco/run/worker.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace worker_test {

using run_test::code_of;
using run_test::in;

TEST_CASE("names of networks and objects are unique, and a checkpoint with other names is refused") {
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

TEST_CASE("a foreign network is refused by name in an update, and one of another type as a leader") {
  temporary_folder const folder;
  run_test::silence const quiet;
  redco::deployer deployer(in(folder.path));
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = 1}), other(deployer, rank, {.steps = 1});
    auto& own = worker.add("own", teacher{}, redco::sgd{});
    auto& small = worker.add("small", student{}, redco::sgd{});
    auto& strange = other.add("strange", teacher{}, redco::sgd{});
    redco::run::trained_network<teacher> loose(teacher{}, redco::plan_of(teacher{}, rank.mesh), redco::sgd{},
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

TEST_CASE("impossible lengths of a worker are refused") {
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
