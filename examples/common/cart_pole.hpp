#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

/// A pole on a cart that a force pushes to the left or to the right, with the equations of Gym's
/// CartPole-v1.
struct cart_pole {
  static constexpr char const* name = "cartpole";
  static constexpr double solved = 475;  ///< mean return that counts as solved
  static constexpr int observed = 4, actions = 2;
  static constexpr int longest = 500;                      ///< steps of an episode
  double position = 0, speed = 0, angle = 0, turning = 0;  ///< m, m/s, radians, radians/s

  std::array<double, observed> seen() const { return {position, speed, angle, turning}; }

  /// Pushes the cart for 0.02 s, to the left for action 0 and to the right for action 1. Returns
  /// the reward.
  double step(std::int64_t action) {
    double const cosine = std::cos(angle), sine = std::sin(angle);
    double const push = ((action == 1 ? 10.0 : -10.0) + 0.05 * turning * turning * sine) / 1.1;
    double const turns = (9.8 * sine - cosine * push) / (0.5 * (4.0 / 3 - 0.1 * cosine * cosine / 1.1));
    position += 0.02 * speed;
    speed += 0.02 * (push - 0.05 * turns * cosine / 1.1);
    angle += 0.02 * turning;
    turning += 0.02 * turns;
    return 1;
  }

  /// Returns true if the cart is out of its track or the pole has fallen.
  bool terminated() const { return std::abs(position) > 2.4 || std::abs(angle) > 12 * 2 * std::numbers::pi / 360; }

  static cart_pole somewhere(std::mt19937& random) {
    std::uniform_real_distribution<double> near(-0.05, 0.05);
    return {near(random), near(random), near(random), near(random)};
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(position, speed, angle, turning);
  }
};
