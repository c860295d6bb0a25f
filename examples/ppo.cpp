// Proximal policy optimisation, PPO (Schulman et al. 2017), on Gym's CartPole-v1 and Acrobot-v1. An
// actor and a critic learn from 8 concurrent episodes, which are part of the checkpoint. An episode
// that is truncated after 500 steps counts the value of its last observation; a terminated one does
// not. All replicas play the same episodes, and each learns from its share of the steps.
// Exit code 1 if the mean return of 100 episodes of the greedy policy is below 475 on CartPole or
// below -100 on Acrobot with the default options. Seeds 42, 1 and 2 reach 500, 500 and 500 on
// CartPole, and -80.84, -87.64 and -83.84 on Acrobot:
//
//   ppo --seed 42 --threads 1 --workdir run     all options: --help

#include "common/acrobot.hpp"
#include "common/advantages.hpp"
#include "common/cart_pole.hpp"
#include "common/episodes.hpp"
#include "common/frames.hpp"
#include "common/minibatches.hpp"

#include <redco/train.hpp>

#include <algorithm>
#include <iostream>
#include <random>

/// An actor (one output for each action) or a critic (one output).
template <int Observed, int Outputs>
struct head {
  using net = redco::sequential<redco::linear<Observed, 64>, redco::tanh_layer, redco::linear<64, 64>,
                                redco::tanh_layer, redco::linear<64, Outputs>>;
  redco::no_config config;
  constexpr redco::extents input(redco::workload const& load) const { return {load.batch, Observed}; }
};

enum class task { both, cartpole, acrobot };
constexpr auto task_texts =
    redco::meta::enum_texts<task>({{task::both, "both"}, {task::cartpole, "cartpole"}, {task::acrobot, "acrobot"}});
constexpr std::string_view name_of(task t) { return task_texts.text_of(t); }
template <>
inline constexpr std::array redco::options::choices<task> = task_texts.values();

constexpr std::int64_t concurrent = 8, horizon = 128, minibatch = 256;
constexpr double discount = 0.99, smoothing = 0.95;

struct my_options {
  redco::stepping_options deployer{{.dtype = redco::dtype::f32}};
  task env = task::both;
  std::int64_t updates = 250, epochs = 4;
  double lr = 1e-3, clip = 0.2, entropy = 0.01;

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(
        redco::field<"deployer">(&o::deployer, "where to run"), redco::field<"env">(&o::env, "environment to learn"),
        redco::field<"updates">(&o::updates, "number of rollouts of 8 x 128 steps that are learned from").at_least(1),
        redco::field<"epochs">(&o::epochs, "passes over a rollout, in minibatches of 256 steps").at_least(1),
        redco::field<"lr">(&o::lr, "first learning rate, which then falls to 0").at_least(0),
        redco::field<"clip">(&o::clip, "largest relative change of a probability that is rewarded").at_least(0),
        redco::field<"entropy">(&o::entropy, "weight of the policy's entropy in the loss").at_least(0));
  }
};

/// Draws an action for each row of `scores` with the probabilities softmax(scores).
at::Tensor drawn(at::Tensor const& scores, std::mt19937& random) {
  std::extreme_value_distribution<double> gumbel;
  at::Tensor const noise = at::empty(scores.sizes(), at::kDouble);
  std::generate_n(noise.mutable_data_ptr<double>(), noise.numel(), [&] { return gumbel(random); });
  return (scores.cpu() + noise).argmax(1);
}

/// Plays a rollout. Returns a row for each step: observation, action, log-probability of the
/// action, advantage, return.
template <class Environment, class Actor, class Critic>
at::Tensor played(episodes<Environment>& all, Actor const& actor, Critic const& critic, std::mt19937& random) {
  at::NoGradGuard const plain;
  rollout const r = all.play(
      horizon, [&](at::Tensor const& seen) { return drawn(actor(seen), random); }, random);
  at::Tensor const action = r.action.unsqueeze(2), values = critic(r.seen).cpu(), later = critic(r.next).cpu();
  at::Tensor const chance = at::log_softmax(actor(r.seen), 2).cpu().gather(2, action);
  at::Tensor const gain = generalised_advantages(r, values.squeeze(2), later.squeeze(2), discount, smoothing);
  return at::cat({r.seen, action, chance, gain.unsqueeze(2), gain.unsqueeze(2) + values}, 2).flatten(0, 1);
}

/// Returns the mean return of 100 episodes of the greedy policy, which run concurrently.
template <class Environment, class Actor>
double mean_return(Actor const& actor) {
  at::NoGradGuard const plain;
  std::mt19937 random(2026);
  auto const greedy = [&](at::Tensor const& seen) { return actor(seen).argmax(1).cpu(); };
  rollout const r = episodes<Environment>(100, random).play(Environment::longest, greedy, random);
  at::Tensor const first = (r.ended.cumsum(0) - r.ended).eq(0);  // steps of the first 100 episodes
  return (r.reward * first).sum().template item<double>() / 100;
}

/// Returns a picture of an episode of the greedy policy.
template <class Environment, class Actor>
std::string filmstrip(Actor const& actor) {
  at::NoGradGuard const plain;
  std::mt19937 random(7);
  auto const frames = filmed(Environment::somewhere(random), Environment::longest, [&](Environment& now) {
    at::Tensor const seen = at::tensor(at::ArrayRef<double>(now.seen())).view({1, -1});
    now.step(actor(seen).argmax(1).template item<std::int64_t>());
    return !now.terminated();
  });
  return redco::report::strip(frames, "an episode of " + std::to_string(frames.size() - 1) + " steps");
}

/// Trains a policy. Returns true if its mean return is high enough.
template <class Environment>
bool trained(my_options const& o, std::string const& config) {
  redco::deployer_options deployment = o.deployer;
  deployment.workdir /= Environment::name;
  redco::deployer where(deployment);
  double reached = 0;
  where.run([&](redco::rank_context& rank) {
    redco::worker worker(where, rank, {.steps = o.updates, .config = config});
    constexpr int width = Environment::observed;
    redco::adam const optimizer{.lr = redco::linear_decay{.peak = o.lr}, .eps = 1e-5, .clip_norm = 0.5};
    auto& actor = worker.add("actor", head<width, Environment::actions>{}, optimizer);
    auto& critic = worker.add("critic", head<width, 1>{}, optimizer);
    std::mt19937 random(static_cast<unsigned>(worker.seed()));
    episodes<Environment> all(concurrent, random);
    worker.keep("episodes", all);
    redco::comm::group const& replicas = rank.group(redco::shape::batch_axes);
    for (worker.resume(); !worker.finished(); worker.end_step()) {
      random.seed(static_cast<unsigned>(worker.seed() * 1'000'003 + static_cast<std::uint64_t>(worker.step())));
      redco::pass const acting = worker.pass(0, concurrent, false);
      at::Tensor const rows = played(all, actor.in(acting), critic.in(acting), random).to(where.device(rank.rank));
      for (double const sum : all.take_returns()) worker.log("return", sum);
      for (std::int64_t epoch = 0; epoch < o.epochs; ++epoch)
        for (at::Tensor const& batch : minibatches(rows, minibatch, random)) {
          // Each replica learns from its share, with the advantages normalised over all shares.
          std::int64_t const begin = minibatch * replicas.rank() / replicas.size(),
                             n = minibatch * (replicas.rank() + 1) / replicas.size() - begin;
          auto const own = [&](int column, int count) { return batch.narrow(0, begin, n).narrow(1, column, count); };
          at::Tensor const gains = batch.select(1, width + 2);
          at::Tensor const gain = (own(width + 2, 1) - gains.mean()) / (gains.std() + 1e-8);
          redco::pass const in = worker.pass(begin, n);
          at::Tensor const chances = at::log_softmax(actor.in(in)(own(0, width)), 1);
          at::Tensor const chosen = chances.gather(1, own(width, 1).to(at::kLong));
          at::Tensor const ratio = (chosen - own(width + 1, 1)).exp();
          at::Tensor const surrogate = at::minimum(ratio * gain, ratio.clamp(1 - o.clip, 1 + o.clip) * gain);
          at::Tensor const entropy = -(chances.exp() * chances).sum();
          worker.update(actor, {-surrogate.sum() - o.entropy * entropy, static_cast<double>(n)});
          at::Tensor const missed = critic.in(in)(own(0, width)) - own(width + 3, 1);
          worker.update(critic, {missed.square().sum(), static_cast<double>(n)});
        }
    }
    redco::pass const in = worker.pass(0, 0, false);
    double const mean = mean_return<Environment>(actor.in(in));
    std::string const film = filmstrip<Environment>(actor.in(in));
    if (rank.first_of_process) where.keep_picture("episode", film), reached = mean;
  });
  std::cout << Environment::name << ": mean return of 100 episodes " << reached << " (bound " << Environment::solved
            << ")\n";
  return reached >= Environment::solved;
}

int main(int argc, char** argv) {
  return redco::main_of<my_options>(argc, argv, "Learns by PPO.", [](my_options const& o, auto const& given) {
    bool const poles = o.env == task::acrobot || trained<cart_pole>(o, given.json());
    bool const links = o.env == task::cartpole || trained<acrobot>(o, given.json());
    return (poles && links) || o.updates < my_options{}.updates ? 0 : 1;
  });
}
