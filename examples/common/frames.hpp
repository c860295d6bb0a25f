#pragma once

// Frames of episodes of the environments, for pictures.

#include "acrobot.hpp"
#include "cart_pole.hpp"
#include "pendulum.hpp"

#include <redco/report/pictures/contact_sheet.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

/// A picture of 96 x 64 pixels that lines are drawn on. The point (0, 0) is its centre, x points to
/// the right and y upwards.
class canvas {
 public:
  using colour = std::array<std::uint8_t, 3>;
  static constexpr colour black{40, 40, 48}, grey{176, 176, 184}, red{204, 72, 56}, blue{56, 104, 184};
  static constexpr int width = 96, height = 64;

  /// `reach`: distance from the centre to the upper edge.
  explicit canvas(double reach) : scale_(height / 2 / reach), drawn_{width, height, 3, {}} {
    drawn_.pixels.assign(std::size_t{width} * height * 3, 248);
  }

  /// Draws a line with round ends; a line between equal points is a disc. `thick` is in pixels.
  canvas& line(std::array<double, 2> begin, std::array<double, 2> end, double thick, colour of) {
    std::array<double, 2> const along{end[0] - begin[0], end[1] - begin[1]};
    double const square = along[0] * along[0] + along[1] * along[1];
    for (int row = 0; row < height; ++row)
      for (int column = 0; column < width; ++column) {
        double const x = (column + 0.5 - width / 2) / scale_ - begin[0],
                     y = (height / 2 - row - 0.5) / scale_ - begin[1];
        double const share = square > 0 ? std::clamp((x * along[0] + y * along[1]) / square, 0.0, 1.0) : 0;
        double const away = scale_ * std::hypot(x - share * along[0], y - share * along[1]);
        double const cover = std::clamp(thick / 2 - away + 0.5, 0.0, 1.0);
        for (std::size_t i = 0; i < 3; ++i) {
          std::uint8_t& pixel = drawn_.pixels[static_cast<std::size_t>(3 * (row * width + column)) + i];
          pixel = static_cast<std::uint8_t>(std::lround(cover * of[i] + (1 - cover) * pixel));
        }
      }
    return *this;
  }

  redco::report::picture_tile const& drawn() const { return drawn_; }

 private:
  double scale_;  // pixels of a unit of length
  redco::report::picture_tile drawn_;
};

/// Draws the track, the cart and the pole. The pole is drawn twice as long as it is.
inline redco::report::picture_tile frame_of(cart_pole const& now) {
  double const x = now.position, floor = -0.8;
  return canvas(1.6)
      .line({-2.4, floor}, {2.4, floor}, 1.5, canvas::grey)
      .line({x - 0.2, floor}, {x + 0.2, floor}, 8, canvas::black)
      .line({x, floor}, {x + 2 * std::sin(now.angle), floor + 2 * std::cos(now.angle)}, 4, canvas::red)
      .drawn();
}

/// Draws both links, and the line that the tip must pass.
inline redco::report::picture_tile frame_of(acrobot const& now) {
  double const first = now.state[0], second = first + now.state[1];
  std::array<double, 2> const elbow{std::sin(first), -std::cos(first)};
  return canvas(2.2)
      .line({-3.2, 1}, {3.2, 1}, 1.5, canvas::grey)
      .line({0, 0}, elbow, 4, canvas::blue)
      .line(elbow, {elbow[0] + std::sin(second), elbow[1] - std::cos(second)}, 4, canvas::red)
      .line({0, 0}, {0, 0}, 5, canvas::black)
      .drawn();
}

/// Draws the pendulum, which is upright at angle 0.
inline redco::report::picture_tile frame_of(pendulum const& now) {
  return canvas(1.3)
      .line({0, 0}, {-std::sin(now.angle), std::cos(now.angle)}, 6, canvas::red)
      .line({0, 0}, {0, 0}, 4, canvas::black)
      .drawn();
}

/// Returns the frames of an episode of at most `longest` steps that begins with the state `now`.
/// `step(now)` changes the state, and returns true if the episode goes on.
template <class Environment, class Step>
std::vector<redco::report::picture_tile> filmed(Environment now, int longest, Step const& step) {
  std::vector frames{frame_of(now)};
  for (int i = 0; i < longest && step(now); ++i) frames.push_back(frame_of(now));
  return frames;
}
