#include "torch_catch.hpp"

#include "mlp.hpp"

#include <redco/run/worker.hpp>
#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

// Compares updates and followers of a worker with numbers computed by hand.
namespace worker_numbers {

namespace {

using run_test::in;

struct line {
  using net = redco::sequential<redco::named<"up", redco::linear<3, 2>>>;
  redco::no_config config;
  constexpr redco::extents input(redco::workload const& load) const { return {load.batch, 3}; }
};

/// Runs `body(worker)` on one rank.
void with_worker(redco::dtype type, redco::worker_options const& options,
                 std::function<void(redco::worker&)> const& body, std::filesystem::path const& workdir) {
  run_test::silence const quiet;
  redco::deployer_options where = in(workdir);
  where.dtype = type;
  redco::deployer deployer(where);
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, options);
    body(worker);
  });
}

/// Returns a loss whose gradient is `gradient` in every element of every parameter.
redco::mean loss_of(redco::run::network_state const& network, double gradient) {
  at::Tensor sum = at::zeros({}, at::kDouble);
  for (at::Tensor const& p : network.network().parameters()) sum = sum + p.sum() * (3 * gradient);
  return {sum, 3};
}

/// PyTorch's Adam on one number. Bias corrections count its own updates.
struct adam_by_hand {
  double value, lr, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, mean = 0, square = 0;
  int updates = 0;

  void update(double gradient) {
    ++updates;
    mean = beta1 * mean + (1 - beta1) * gradient;
    square = beta2 * square + (1 - beta2) * gradient * gradient;
    value -= lr * (mean / (1 - std::pow(beta1, updates))) / (std::sqrt(square / (1 - std::pow(beta2, updates))) + eps);
  }
};

double first_of(redco::run::network_state const& network) {
  return network.store.find("up.weight")->master.flatten()[0].item<double>();
}

}  // namespace

TEST_CASE("each network's Adam counts its own updates, not the worker's steps") {
  temporary_folder const folder;
  // Updates of the two networks in each step: several, none, and a first one in a late step.
  std::vector<std::vector<double>> const of_a{{1, -2, 3}, {}, {0.5, -1}}, of_b{{}, {}, {-0.25, 4}};
  with_worker(
      redco::dtype::f64, {.steps = 3},
      [&](redco::worker& worker) {
        auto& a = worker.add("a", line{}, redco::adam{.lr = 0.1});
        auto& b = worker.add("b", line{}, redco::adam{.lr = 0.02, .beta1 = 0.7, .beta2 = 0.9, .eps = 0.1});
        adam_by_hand one{.value = first_of(a), .lr = 0.1};
        adam_by_hand two{.value = first_of(b), .lr = 0.02, .beta1 = 0.7, .beta2 = 0.9, .eps = 0.1};
        for (std::size_t step = 0; !worker.finished(); worker.end_step(), ++step) {
          for (double const g : of_a[step]) {
            worker.update(a, loss_of(a, g));
            one.update(g);
            CHECK(first_of(a) == Approx(one.value).epsilon(1e-12));
          }
          for (double const g : of_b[step]) {
            worker.update(b, loss_of(b, g));
            two.update(g);
            CHECK(first_of(b) == Approx(two.value).epsilon(1e-12));
          }
        }
        CHECK(one.updates == 5);
        CHECK(two.updates == 2);
      },
      folder.path);
}

TEST_CASE("a follower in bf16 moves f32 masters by its share, and the network computes with their rounded values") {
  temporary_folder const folder;
  with_worker(
      redco::dtype::bf16, {.steps = 1},
      [](redco::worker& worker) {
        auto& leader = worker.add("leader", line{}, redco::sgd{});
        auto& target = worker.add_copy("target", leader);
        // Values that bf16 cannot represent
        for (redco::nn::stored_parameter const& p : leader.store.parameters()) {
          at::NoGradGuard const no_grad;
          at::Tensor const shift = at::arange(p.master.numel(), at::kDouble).view(p.master.sizes()) * 0.1 + 0.7003;
          at::Tensor(p.master).add_(shift);
        }
        leader.store.publish();
        auto const rounded = [](redco::run::network_state const& network) {
          for (redco::nn::stored_parameter const& p : network.store.parameters())
            if (!at::equal(p.value, p.master.to(at::kBFloat16))) return false;
          return true;
        };
        std::vector<at::Tensor> wanted;
        for (redco::nn::stored_parameter const& p : target.store.parameters())
          wanted.push_back(p.master.to(at::kDouble));
        for (int step = 0; step < 40; ++step) {
          redco::worker::follow(leader, target, 0.01);
          std::size_t i = 0;
          for (redco::nn::stored_parameter const& p : target.store.parameters()) {
            at::Tensor const goal = leader.store.find(p.name)->master.to(at::kDouble);
            wanted[i] = wanted[i] + 0.01 * (goal - wanted[i]);
            CHECK(p.master.scalar_type() == at::kFloat);
            CHECK((p.master.to(at::kDouble) - wanted[i]).abs().max().item<double>() < 2e-6);
            ++i;
          }
          CHECK(rounded(target));
        }
        redco::worker::follow(leader, target);
        for (redco::nn::stored_parameter const& p : target.store.parameters())
          CHECK(at::equal(p.master, leader.store.find(p.name)->master));
        CHECK(rounded(target));
      },
      folder.path);
}

TEST_CASE("a worker saves every k-th step and the last one, and keeps the requested number of checkpoints") {
  temporary_folder const folder;
  std::set<std::string> seen;
  auto const names = [&] {
    std::set<std::string> all;
    if (!std::filesystem::exists(folder.path / "ckpts")) return all;
    // Folders whose name begins with a dot are being deleted.
    for (auto const& entry : std::filesystem::directory_iterator(folder.path / "ckpts"))
      if (std::string name = entry.path().filename().string(); !entry.is_symlink() && name.starts_with("step_"))
        all.insert(std::move(name));
    return all;
  };
  with_worker(
      redco::dtype::f64, {.steps = 11, .save_every = 3, .keep_last = 2},
      [&](redco::worker& worker) {
        worker.add("a", line{}, redco::sgd{});
        while (!worker.finished()) {
          worker.end_step();
          seen.merge(names());
        }
      },
      folder.path);
  CHECK(seen == std::set<std::string>{"step_3", "step_6", "step_9", "step_11"});
  CHECK(names() == std::set<std::string>{"step_9", "step_11"});
}

}  // namespace worker_numbers
