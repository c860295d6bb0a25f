#include "walls/training.hpp"

#include <redco/optimizer/optimizers.hpp>
#include <redco/random/stream.hpp>
#include <redco/random/uniform.hpp>

#include <cstdint>
#include <vector>

// An actor and a critic with one optimizer each, and a target copy that follows the critic slowly.

namespace {

using namespace redco;

constexpr std::int64_t environments = 5, actions = 4;

struct actor {
  using net = sequential<named<"up", linear<3, 8>>, gelu, named<"down", linear<8, actions>>>;
  no_config config;
};
struct critic {
  using net = sequential<named<"n", layer_norm<3>>, named<"up", linear<3, 6>>, silu, named<"down", linear<6, 1>>>;
  no_config config;
};

at::Tensor first_states(walls::share const& mine) {
  return sharded::values_of("states", std::vector<std::int64_t>{environments, 3}).slice(0, mine.begin, mine.end);
}
at::Tensor next_states(at::Tensor const& states, at::Tensor const& chosen) {
  at::Tensor const turn = sharded::values_of("turn", std::vector<std::int64_t>{3, 3});
  at::Tensor const push = sharded::values_of("push", std::vector<std::int64_t>{actions, 3});
  return at::tanh(at::linear(states, turn) + 2 * push.index_select(0, chosen));
}

/// Returns one action per environment, drawn by its global number, so that every mesh draws equal
/// actions.
at::Tensor drawn(at::Tensor const& log_probabilities, walls::share const& mine, std::int64_t step) {
  at::Tensor const cumulative = log_probabilities.detach().exp().cumsum(1);
  random::stream const key = random::make_stream(3, 1, static_cast<std::uint64_t>(step), 0);
  at::Tensor const u = at::empty({mine.size(), 1}, at::kDouble);
  for (std::int64_t i = 0; i < mine.size(); ++i)
    u.data_ptr<double>()[i] = random::uniform_at(key, static_cast<std::uint64_t>(mine.begin + i));
  return (cumulative < u).sum(1).clamp_max(actions - 1);
}

struct rollout {
  std::vector<double> actor_losses, critic_losses;
  sharded::tensor_map actor, critic, target;
};

rollout played_on(mesh const& on, int steps) {
  rollout result;
  sharded::whole_tensors actors, critics, targets;
  redco::comm::run_ranks(on, {}, [&](rank_context& rank) {
    adamw const slow{.lr = 2e-2};
    sgd const fast{.lr = 1e-1, .momentum = 0.5, .clip_norm = 0.4};
    redco::run::trained_network<actor> policy({}, plan_of(actor{}, on), slow, dtype::f64, 5, rank.rank, {});
    redco::run::trained_network<critic> judge({}, plan_of(critic{}, on), fast, dtype::f64, 6, rank.rank, {});
    std::vector<at::Tensor> target;
    for (at::Tensor const& p : judge.net->parameters()) target.push_back(p.detach().clone());

    walls::share const mine = walls::share_of(environments, rank);
    at::Tensor states = first_states(mine);
    for (int step = 0; step < steps; ++step) {
      pass const in = walls::pass_of(rank, mine, step);
      bound_network<actor> const act(policy.net, in);
      bound_network<critic> const value(judge.net, in);
      at::Tensor const log_probabilities = act(states).log_softmax(1);
      at::Tensor const chosen = drawn(log_probabilities, mine, step);
      at::Tensor const after = next_states(states, chosen), reward = -(after - 0.4).square().sum(1);
      at::Tensor const surprise = reward + 0.9 * value.substituted(target)(after).squeeze(1) - value(states).squeeze(1);
      at::Tensor const taken = log_probabilities.gather(1, chosen.unsqueeze(1)).squeeze(1);

      auto const n = static_cast<double>(mine.size());
      redco::run::training_step critic_step(judge, rank);
      redco::run::training_step actor_step(policy, rank);
      critic_step.add(mean{surprise.square().sum(), n});
      actor_step.add(mean{-(taken * surprise.detach()).sum(), n});
      auto const critic_done = critic_step.finish(step, steps, false);
      auto const actor_done = actor_step.finish(step, steps, false);
      {
        at::NoGradGuard const quiet;
        for (std::size_t i = 0; i < target.size(); ++i) target[i].lerp_(judge.net->parameters()[i], 0.2);
      }
      states = after;
      if (rank.rank > 0) continue;
      result.actor_losses.push_back(actor_done.loss);
      result.critic_losses.push_back(critic_done.loss);
    }
    walls::collect(actors, rank, policy);
    walls::collect(critics, rank, judge);
    at::Tensor const flat = sharded::flat_of(judge.store, judge.net->parameters(), target);
    if (rank.dp_index() > 0) return;
    for (auto const& p : judge.store.parameters()) targets.add(p, sharded::part_of(flat, p), rank.tp_index());
  });
  result.actor = actors.all(), result.critic = critics.all(), result.target = targets.all();
  return result;
}

}  // namespace

TEST_CASE("an actor-critic step with two networks, two optimizers and a target copy is the same on every mesh") {
  rollout const one = played_on({.dp = 1}, 10);
  CHECK(sharded::distance(one.target.at("up.weight"), one.critic.at("up.weight")) > 1e-4);
  CHECK(sharded::distance(one.target.at("up.weight"), one.critic.at("up.weight")) < 0.5);
  for (mesh const& shape : walls::meshes) {
    INFO("mesh " << walls::name_of(shape));
    rollout const found = played_on(shape, 10);
    walls::check_equal({found.actor_losses, {}, found.actor}, {one.actor_losses, {}, one.actor});
    walls::check_equal({found.critic_losses, {}, found.critic}, {one.critic_losses, {}, one.critic});
    walls::check_equal({{}, {}, found.target}, {{}, {}, one.target});
  }
}
