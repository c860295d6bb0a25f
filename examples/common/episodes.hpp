#pragma once

#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

/// T steps of N concurrent episodes, as tensors on the CPU. f32 except for the actions.
struct rollout {
  at::Tensor seen;        ///< `[T, N, observed]`: observations before the actions
  at::Tensor next;        ///< `[T, N, observed]`: observations after the actions
  at::Tensor action;      ///< `[T, N]`, i64
  at::Tensor reward;      ///< `[T, N]`
  at::Tensor terminated;  ///< `[T, N]`: 1 if the environment ended the episode, else 0
  at::Tensor ended;       ///< `[T, N]`: 1 if the episode was terminated or truncated, else 0
};

/// Concurrent episodes of an environment. An episode ends when the environment terminates it, or is
/// truncated after Environment::longest steps. The next episode then begins in its place.
template <class Environment>
class episodes {
 public:
  episodes(std::int64_t count, std::mt19937& random) {
    for (std::int64_t i = 0; i < count; ++i) all_.push_back({Environment::somewhere(random), 0, 0});
  }

  /// Takes `steps` actions in each episode. `policy(seen)` returns the actions `[N]` (i64, on the
  /// CPU) for the observations `[N, observed]`.
  template <class Policy>
  rollout play(std::int64_t steps, Policy const& policy, std::mt19937& random) {
    auto const n = static_cast<std::int64_t>(all_.size());
    at::Tensor const seen = at::empty({steps, n, Environment::observed}), flags = at::empty({3, steps, n});
    rollout done{seen, at::empty_like(seen), at::empty({steps, n}, at::kLong), flags[0], flags[1], flags[2]};
    float* before = seen.mutable_data_ptr<float>();
    float* after = done.next.mutable_data_ptr<float>();
    float* reward = flags.mutable_data_ptr<float>();
    std::int64_t* taken = done.action.mutable_data_ptr<std::int64_t>();
    for (std::int64_t t = 0; t < steps; ++t) {
      for (episode const& one : all_) before = write(one.now, before);
      at::Tensor const actions = policy(seen[t]);
      taken = std::copy_n(actions.contiguous().const_data_ptr<std::int64_t>(), n, taken);
      for (std::int64_t i = 0; i < n; ++i, ++reward) {
        episode& one = all_[static_cast<std::size_t>(i)];
        double const earned = one.now.step(taken[i - n]);
        one.sum += earned;
        after = write(one.now, after);
        bool const terminated = one.now.terminated(), ended = ++one.steps == Environment::longest || terminated;
        reward[0] = static_cast<float>(earned);
        reward[steps * n] = terminated ? 1 : 0;
        reward[2 * steps * n] = ended ? 1 : 0;
        if (!ended) continue;
        returns_.push_back(one.sum);
        one = {Environment::somewhere(random), 0, 0};
      }
    }
    return done;
  }

  /// Returns the sums of rewards of the episodes that ended since the last call.
  std::vector<double> take_returns() { return std::exchange(returns_, {}); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(all_, returns_);
  }

 private:
  struct episode {
    Environment now;
    std::int64_t steps;
    double sum;  ///< of the rewards

    template <class Archive>
    void serialize(Archive& archive) {
      archive(now, steps, sum);
    }
  };

  /// Writes the observation to `row` and returns the address of the next row.
  static float* write(Environment const& one, float* row) {
    auto const seen = one.seen();
    return std::transform(seen.begin(), seen.end(), row, [](double value) { return static_cast<float>(value); });
  }

  std::vector<episode> all_;
  std::vector<double> returns_;
};
