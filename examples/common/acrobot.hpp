#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>

/// Two links that hang from a joint, with a motor between the links. The task is to swing the tip
/// above a line. The equations are those of Gym's Acrobot-v1.
struct acrobot {
  static constexpr char const* name = "acrobot";
  static constexpr double solved = -100;  ///< mean return that counts as solved
  static constexpr int observed = 6, actions = 3;
  static constexpr int longest = 500;  ///< steps of an episode
  /// Angles of the two links in radians, and their speeds in radians/s.
  std::array<double, 4> state{};

  std::array<double, observed> seen() const {
    return {std::cos(state[0]), std::sin(state[0]), std::cos(state[1]), std::sin(state[1]), state[2], state[3]};
  }

  /// Applies the torque -1, 0 or 1 (actions 0, 1, 2) for 0.2 s and returns the reward.
  double step(std::int64_t action) {
    constexpr double pi = std::numbers::pi, time = 0.2;
    double const torque = static_cast<double>(action) - 1;
    std::array<double, 4> const k1 = slope(state, torque), k2 = slope(moved(k1, time / 2), torque),
                                k3 = slope(moved(k2, time / 2), torque), k4 = slope(moved(k3, time), torque);
    for (std::size_t i = 0; i < 4; ++i) state[i] += time / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    state[0] = std::remainder(state[0], 2 * pi);
    state[1] = std::remainder(state[1], 2 * pi);
    state[2] = std::clamp(state[2], -4 * pi, 4 * pi);
    state[3] = std::clamp(state[3], -9 * pi, 9 * pi);
    return terminated() ? 0 : -1;
  }

  /// Returns true if the tip is above the line.
  bool terminated() const { return -std::cos(state[0]) - std::cos(state[1] + state[0]) > 1; }

  static acrobot somewhere(std::mt19937& random) {
    std::uniform_real_distribution<float> near(-0.1F, 0.1F);
    acrobot one;
    for (double& value : one.state) value = near(random);
    return one;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(state);
  }

 private:
  std::array<double, 4> moved(std::array<double, 4> const& by, double time) const {
    std::array<double, 4> to = state;
    for (std::size_t i = 0; i < 4; ++i) to[i] += time * by[i];
    return to;
  }

  /// Returns the derivative of the state (Sutton and Barto's equations).
  static std::array<double, 4> slope(std::array<double, 4> const& at, double torque) {
    auto const [a1, a2, v1, v2] = at;
    constexpr double quarter = std::numbers::pi / 2, gravity = 9.8;
    double const cosine = std::cos(a2), sine = std::sin(a2);
    double const d1 = 0.25 + (1.25 + cosine) + 2, d2 = 0.25 + 0.5 * cosine + 1;
    double const phi2 = 0.5 * gravity * std::cos(a1 + a2 - quarter);
    double const phi1 = -0.5 * v2 * v2 * sine - v2 * v1 * sine + 1.5 * gravity * std::cos(a1 - quarter) + phi2;
    double const bend = (torque + d2 / d1 * phi1 - 0.5 * v1 * v1 * sine - phi2) / (1.25 - d2 * d2 / d1);
    return {v1, v2, -(d2 * bend + phi1) / d1, bend};
  }
};
