// Environment steps per second of proximal policy optimisation (Schulman et al. 2017) on
// CartPole-v1, and the
// milliseconds of an update that act, environment and learning take. Peer: benchmarks/recipes.py.
//   ppo_shape [--updates 60] [--threads 1] [--workdir DIR]

#include <redco/train.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iostream>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace {

constexpr std::int64_t environments = 8, horizon = 128, rows = environments * horizon, minibatch = 256, epochs = 4;
constexpr double discount = 0.99, smoothing = 0.95, clip = 0.2, entropy_weight = 0.01;

/// A pole on a cart, as Gym's CartPole-v1 computes it.
struct cart_pole {
  static constexpr int longest = 500;  // steps
  std::array<double, 4> state{};       // position, speed, angle, angular speed
  int steps = 0;

  void reset(std::mt19937& random) {
    std::uniform_real_distribution<double> near(-0.05, 0.05);
    for (double& value : state) value = near(random);
    steps = 0;
  }

  /// Pushes the cart to the right or to the left for 0.02 s. Returns true if the episode ends.
  bool push(bool right) {
    auto& [x, v, angle, turn] = state;
    double const cosine = std::cos(angle), sine = std::sin(angle);
    double const thrust = ((right ? 10.0 : -10.0) + 0.05 * turn * turn * sine) / 1.1;
    double const spin = (9.8 * sine - cosine * thrust) / (0.5 * (4.0 / 3 - 0.1 * cosine * cosine / 1.1));
    double const push = thrust - 0.05 * spin * cosine / 1.1;
    x += 0.02 * v, v += 0.02 * push, angle += 0.02 * turn, turn += 0.02 * spin;
    return std::abs(x) > 2.4 || std::abs(angle) > 12 * 3.14159265358979 / 180 || ++steps == longest;
  }
};

template <int Out>
struct head {
  using net = redco::sequential<redco::linear<4, 64>, redco::tanh_layer, redco::linear<64, 64>, redco::tanh_layer,
                                redco::linear<64, Out>>;
  redco::no_config config;
  constexpr redco::extents input(redco::workload const& load) const { return {load.batch, 4}; }
};

struct ppo_options {
  redco::stepping_options deployer{{.dtype = redco::dtype::f32}};
  std::int64_t updates = 60;
  double lr = 1e-3;

  static constexpr auto fields() {
    using o = ppo_options;
    return redco::fields(redco::field<"deployer">(&o::deployer, "where to run"),
                         redco::field<"updates">(&o::updates, "updates, of 8 x 128 steps each").at_least(1),
                         redco::field<"lr">(&o::lr, "learning rate of actor and critic").at_least(0));
  }
};

/// Milliseconds since the last call, added to what is measured.
struct stopwatch {
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
  void add_to(double& total) {
    auto const now = std::chrono::steady_clock::now();
    total += std::chrono::duration<double, std::milli>(now - std::exchange(last, now)).count();
  }
};

struct spent {
  double act = 0, environment = 0, learn = 0;  ///< milliseconds
};

/// Steps of all environments, a row each: 4 seen, action, its log-probability, advantage, return.
class rollout {
 public:
  explicit rollout(std::mt19937& random) : random_(random) {
    for (cart_pole& one : poles_) one.reset(random);
  }

  template <class Actor, class Critic>
  void play(Actor const& actor, Critic const& critic, spent& time) {
    at::NoGradGuard const unrecorded;
    std::uniform_real_distribution<float> chance(0, 1);
    stopwatch watch;
    for (std::int64_t t = 0; t < horizon; ++t) {
      at::Tensor const seen = this->seen();
      watch.add_to(time.environment);
      at::Tensor const scores = actor(seen), values = critic(seen);
      std::array<bool, environments> right{};
      for (std::size_t i = 0; i < environments; ++i) {
        float const* const score = scores.const_data_ptr<float>() + 2 * i;
        float const p = 1 / (1 + std::exp(score[0] - score[1]));
        right[i] = chance(random_) < p;
        float* const row = row_of(t, i);
        std::copy_n(seen.const_data_ptr<float>() + 4 * i, 4, row);
        row[4] = right[i] ? 1 : 0;
        row[5] = std::log(right[i] ? p : 1 - p);
        values_[at(t, i)] = values.const_data_ptr<float>()[i];
      }
      watch.add_to(time.act);
      for (std::size_t i = 0; i < environments; ++i) ended_[at(t, i)] = step(poles_[i], right[i]);
      watch.add_to(time.environment);
    }
    at::Tensor const last = critic(seen());
    std::copy_n(last.const_data_ptr<float>(), environments, values_.end() - environments);
    estimate();
    watch.add_to(time.act);
  }

  at::Tensor const& table() const { return table_; }
  /// Returns the mean return of episodes that ended since the last call.
  double mean_return() {
    auto const ended = std::exchange(returns_, {});
    return ended.empty() ? 0 : std::accumulate(ended.begin(), ended.end(), 0.0) / static_cast<double>(ended.size());
  }

 private:
  static std::size_t at(std::int64_t t, std::size_t i) { return static_cast<std::size_t>(t) * environments + i; }
  float* row_of(std::int64_t t, std::size_t i) const { return table_.mutable_data_ptr<float>() + 8 * at(t, i); }

  at::Tensor seen() const {
    at::Tensor const all = at::empty({environments, 4});
    for (std::size_t i = 0; i < environments; ++i)
      std::transform(poles_[i].state.begin(), poles_[i].state.end(), all.mutable_data_ptr<float>() + 4 * i,
                     [](double value) { return static_cast<float>(value); });
    return all;
  }

  bool step(cart_pole& pole, bool right) {
    bool const ends = pole.push(right);
    if (ends) {
      returns_.push_back(pole.steps == cart_pole::longest ? pole.steps : pole.steps + 1);
      pole.reset(random_);
    }
    return ends;
  }

  /// Generalised advantages (Schulman et al. 2016), each reward being 1, and returns.
  void estimate() {
    for (std::size_t i = 0; i < environments; ++i) {
      double later = 0;
      for (std::int64_t t = horizon - 1; t >= 0; --t) {
        double const goes_on = ended_[at(t, i)] ? 0 : 1, value = values_[at(t, i)];
        later = 1 + discount * goes_on * values_[at(t + 1, i)] - value + discount * smoothing * goes_on * later;
        row_of(t, i)[6] = static_cast<float>(later);
        row_of(t, i)[7] = static_cast<float>(later + value);
      }
    }
  }

  std::mt19937& random_;
  std::array<cart_pole, environments> poles_{};
  at::Tensor table_ = at::empty({rows, 8});
  std::vector<float> values_ = std::vector<float>(rows + environments);
  std::vector<bool> ended_ = std::vector<bool>(rows);
  std::vector<double> returns_;
};

/// The clipped surrogate and the entropy of a minibatch, negative and summed over its rows.
template <class Actor>
at::Tensor actor_loss(Actor const& actor, at::Tensor const& batch) {
  at::Tensor const all = at::log_softmax(actor(batch.narrow(1, 0, 4)), 1);
  at::Tensor const chosen = all.gather(1, batch.narrow(1, 4, 1).to(at::kLong));
  at::Tensor const raw = batch.narrow(1, 6, 1), gain = (raw - raw.mean()) / (raw.std() + 1e-8);
  at::Tensor const ratio = (chosen - batch.narrow(1, 5, 1)).exp();
  at::Tensor const surrogate = at::minimum(ratio * gain, ratio.clamp(1 - clip, 1 + clip) * gain);
  return entropy_weight * (all.exp() * all).sum() - surrogate.sum();
}

}  // namespace

int main(int argc, char** argv) {
  return redco::main_of<ppo_options>(argc, argv, "Balances a pole.", [](ppo_options const& o, auto const&) {
    redco::deployer deployer(o.deployer);
    deployer.run([&](redco::rank_context& rank) {
      redco::worker worker(deployer, rank, {.steps = o.updates});
      redco::adam const optimizer{.lr = o.lr, .eps = 1e-5, .clip_norm = 0.5};
      auto& actor = worker.add("actor", head<2>{}, optimizer);
      auto& critic = worker.add("critic", head<1>{}, optimizer);
      std::mt19937 random(static_cast<unsigned>(worker.seed()));
      rollout played(random);
      std::vector<std::int64_t> order(rows);
      std::iota(order.begin(), order.end(), 0);
      spent time;
      double mean_return = 0;
      auto const begin = std::chrono::steady_clock::now();
      for (; !worker.finished(); worker.end_step()) {
        redco::pass const acting = worker.pass(0, environments, false);
        played.play(actor.in(acting), critic.in(acting), time);
        worker.log("return", mean_return = played.mean_return());
        stopwatch watch;
        redco::pass const in = worker.pass(0, minibatch);
        for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
          std::shuffle(order.begin(), order.end(), random);
          at::Tensor const shuffled = played.table().index_select(0, at::tensor(order));
          for (at::Tensor const& batch : shuffled.split(minibatch)) {
            worker.update(actor, {actor_loss(actor.in(in), batch), minibatch});
            at::Tensor const missed = critic.in(in)(batch.narrow(1, 0, 4)) - batch.narrow(1, 7, 1);
            worker.update(critic, {0.5 * missed.square().sum(), minibatch});
          }
        }
        watch.add_to(time.learn);
      }
      std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
      if (!rank.first_of_process) return;
      auto const n = static_cast<double>(o.updates);
      std::cout << "{\"steps_per_second\": " << n * static_cast<double>(rows) / took.count()
                << ", \"act_ms\": " << time.act / n << ", \"environment_ms\": " << time.environment / n
                << ", \"learn_ms\": " << time.learn / n << ", \"mean_return\": " << mean_return << "}\n";
    });
    return 0;
  });
}
