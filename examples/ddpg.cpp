// Deep deterministic policy gradient, DDPG (Lillicrap et al. 2016), on Gym's Pendulum-v1.
// The worker trains an actor and a critic, keeps a target copy of each, and saves a replay buffer
// in the checkpoint. Exit code 1 if the mean return of 100 episodes is below -250 with the default
// options.
//
//   ddpg --mesh 1x2 --workdir run ...     all options: --help

#include "common/frames.hpp"
#include "common/pendulum.hpp"

#include <redco/train.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <random>

/// A replay buffer, and the state of the pendulum that the next step continues.
struct experience {
  static constexpr std::int64_t width = 8;  // observation, torque, reward, next observation
  std::vector<float> rows;
  pendulum now;
  std::int64_t swings = 0;

  void add(std::array<float, 3> const& seen, double torque, double reward) {
    rows.insert(rows.end(), seen.begin(), seen.end());
    rows.insert(rows.end(), {static_cast<float>(torque), static_cast<float>(reward)});
    auto const next = now.seen();
    rows.insert(rows.end(), next.begin(), next.end());
  }

  /// Draws `all` rows of the buffer at random and returns rows [begin, end) of the draw.
  at::Tensor drawn(std::mt19937& random, std::int64_t all, std::int64_t begin, std::int64_t end) const {
    at::Tensor const batch = at::empty({end - begin, width});
    auto const known = rows.size() / width;
    for (std::int64_t i = 0; i < all; ++i) {
      std::size_t const row = random() % known;
      if (i >= begin && i < end)
        std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(row) * width, width,
                    batch.data_ptr<float>() + (i - begin) * width);
    }
    return batch;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(rows, now, swings);
  }
};

struct actor {
  using net = redco::sequential<redco::linear<3, 64>, redco::relu, redco::linear<64, 64>, redco::relu,
                                redco::linear<64, 1>, redco::tanh_layer>;
  redco::no_config config;
  constexpr redco::extents input(redco::workload const& load) const { return {load.batch, 3}; }
};
struct critic {
  using net =
      redco::sequential<redco::linear<4, 64>, redco::relu, redco::linear<64, 64>, redco::relu, redco::linear<64, 1>>;
  redco::no_config config;
  constexpr redco::extents input(redco::workload const& load) const { return {load.batch, 4}; }
};

struct my_options {
  redco::stepping_options deployer{{.dtype = redco::dtype::f32}};
  std::int64_t steps = 12'000, warmup = 500, batch = 128;
  double actor_lr = 1e-3, critic_lr = 2e-3, discount = 0.98, follow = 0.01, noise = 0.3;

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(
        redco::field<"deployer">(&o::deployer, "where to run"),
        redco::field<"steps">(&o::steps, "number of steps of the pendulum, each with an update").at_least(1),
        redco::field<"warmup">(&o::warmup, "first steps, with torques drawn at random and no update").at_least(0),
        redco::field<"batch">(&o::batch, "steps that an update learns from").at_least(1),
        redco::field<"actor_lr">(&o::actor_lr, "learning rate of the actor").at_least(0),
        redco::field<"critic_lr">(&o::critic_lr, "learning rate of the critic").at_least(0),
        redco::field<"discount">(&o::discount, "factor of a reward for each step that it comes later")
            .at_least(0)
            .at_most(1),
        redco::field<"follow">(&o::follow, "share by which target copies follow in a step").at_least(0).at_most(1),
        redco::field<"noise">(&o::noise, "standard deviation of the noise on the torque, which is from -2 to 2")
            .at_least(0));
  }
};

/// Returns the mean return of 100 episodes, which run concurrently as one batch.
template <class Net>
double played(Net const& act) {
  std::mt19937 random(2026);
  std::vector<pendulum> all;
  for (int i = 0; i < 100; ++i) all.push_back(pendulum::somewhere(random));
  double sum = 0;
  for (int step = 0; step < pendulum::episode; ++step) {
    at::Tensor const seen = at::empty({100, 3});
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto const one = all[i].seen();
      std::copy(one.begin(), one.end(), seen.data_ptr<float>() + 3 * i);
    }
    at::Tensor const torque = (2 * act(seen)).to(at::kFloat).contiguous();
    for (std::size_t i = 0; i < all.size(); ++i) sum += all[i].swing(torque.data_ptr<float>()[i]);
  }
  return sum / 100;
}

int main(int argc, char** argv) {
  return redco::main_of<my_options>(argc, argv, "Swings up a pendulum.", [](my_options const& o, auto const& options) {
    redco::deployer deployer(o.deployer);
    double mean_return = 0, per_second = 0;
    deployer.run([&](redco::rank_context& rank) {
      redco::worker worker(deployer, rank, {.steps = o.steps, .config = options.json(), .log_every = 100});
      auto& act = worker.add("actor", actor{}, redco::adam{.lr = o.actor_lr});
      auto& judge = worker.add("critic", critic{}, redco::adam{.lr = o.critic_lr});
      auto& steady_act = worker.add_copy("steady_actor", act);
      auto& steady_judge = worker.add_copy("steady_critic", judge);
      experience past;
      worker.keep("experience", past);

      // Each replica learns from its share of a batch.
      redco::comm::group const& replicas = rank.group(redco::shape::batch_axes);
      std::int64_t const begin = o.batch * replicas.rank() / replicas.size(),
                         end = o.batch * (replicas.rank() + 1) / replicas.size();
      auto const n = static_cast<double>(end - begin);
      auto began = std::chrono::steady_clock::now();
      for (worker.resume(); !worker.finished(); worker.end_step()) {
        if (worker.step() == o.warmup) began = std::chrono::steady_clock::now();
        std::mt19937 random(
            static_cast<unsigned>(worker.seed() * 1'000'003 + static_cast<std::uint64_t>(worker.step())));
        if (past.swings++ % pendulum::episode == 0) past.now = pendulum::somewhere(random);
        auto const seen = past.now.seen();
        double torque = std::uniform_real_distribution<double>(-2, 2)(random);
        if (worker.step() >= o.warmup) {
          at::NoGradGuard const plain;
          redco::pass const in = worker.pass(0, 1, false);
          at::Tensor const x = at::tensor(at::ArrayRef<float>(seen)).view({1, 3});
          torque = 2 * act.in(in)(x).item<double>() + std::normal_distribution<double>(0, o.noise)(random);
        }
        double const reward = past.now.swing(torque);
        past.add(seen, std::clamp(torque, -2.0, 2.0), reward);
        if (worker.step() < o.warmup) continue;

        at::Tensor const batch = past.drawn(random, o.batch, begin, end);
        at::Tensor const here = batch.narrow(1, 0, 3), next = batch.narrow(1, 5, 3);
        redco::pass const in = worker.pass(begin, end - begin);
        at::Tensor wanted;
        {
          at::NoGradGuard const plain;
          at::Tensor const later = steady_judge.in(in)(at::cat({next, 2 * steady_act.in(in)(next)}, 1));
          wanted = 0.1 * batch.narrow(1, 4, 1) + o.discount * later;
        }
        worker.update(judge, {(judge.in(in)(batch.narrow(1, 0, 4)) - wanted).square().sum(), n});
        auto const judged = judge.in(in).fixed();  // the actor's loss must not train the critic
        worker.update(act, {-judged(at::cat({here, 2 * act.in(in)(here)}, 1)).sum(), n});
        redco::worker::follow(act, steady_act, o.follow);
        redco::worker::follow(judge, steady_judge, o.follow);
      }
      std::chrono::duration<double> const took = std::chrono::steady_clock::now() - began;
      at::NoGradGuard const plain;
      redco::pass const in = worker.pass(0, 0, false);
      double const mean = played(act.in(in));
      auto const frames = filmed(pendulum{.angle = 3}, pendulum::episode, [&](pendulum& now) {
        now.swing(2 * act.in(in)(at::tensor(at::ArrayRef<float>(now.seen())).view({1, 3})).item<double>());
        return true;
      });
      if (!rank.first_of_process) return;
      deployer.keep_picture("episode", redco::report::strip(frames, "an episode of 200 steps"));
      mean_return = mean;
      per_second = static_cast<double>(o.steps - o.warmup) / took.count();
    });
    std::cout << per_second << " steps per second, with their updates\n";
    std::cout << "mean return of 100 episodes " << mean_return << " (bound -250)\n";
    my_options standard;
    return mean_return >= -250 || o.steps < standard.steps ? 0 : 1;
  });
}
