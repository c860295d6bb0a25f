#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

/// A pendulum that a torque swings up, with the equations of Gym's Pendulum-v1.
struct pendulum {
  static constexpr int episode = 200;  ///< steps
  double angle = 0, speed = 0;         ///< radians, radians/s

  std::array<float, 3> seen() const {
    return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)), static_cast<float>(speed)};
  }

  /// Applies the torque for 0.05 s and returns the reward.
  double swing(double torque) {
    double const u = std::clamp(torque, -2.0, 2.0), turned = std::remainder(angle, 2 * std::numbers::pi);
    double const cost = turned * turned + 0.1 * speed * speed + 0.001 * u * u;
    speed = std::clamp(speed + (15 * std::sin(angle) + 3 * u) * 0.05, -8.0, 8.0);
    angle += speed * 0.05;
    return -cost;
  }

  static pendulum somewhere(std::mt19937& random) {
    std::uniform_real_distribution<double> angle(-std::numbers::pi, std::numbers::pi), speed(-1, 1);
    double const at = angle(random);
    return {at, speed(random)};
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(angle, speed);
  }
};
