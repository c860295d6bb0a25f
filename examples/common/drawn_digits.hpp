#pragma once

// The digits that mnist.cpp and fedavg.cpp draw.

#include <redco/tensor/torch.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

/// Images and the digits that they show.
struct digits {
  at::Tensor pixels;  ///< `[n, side * side]`, 0 for paper, 1 or more for ink
  at::Tensor labels;  ///< `[n]`, 0 to 9

  digits of(at::Tensor const& indices) const {
    return {pixels.index_select(0, indices), labels.index_select(0, indices)};
  }

  /// Returns the images one by one, as views: `[1, side * side]` and `[1]`.
  std::vector<digits> singles() const {
    std::vector<digits> all;
    for (std::int64_t i = 0; i < labels.size(0); ++i) all.push_back({pixels.narrow(0, i, 1), labels.narrow(0, i, 1)});
    return all;
  }

  /// Returns the images of all lists in one list.
  static digits joined(std::span<digits const> lists) {
    std::vector<at::Tensor> all_pixels, all_labels;
    for (digits const& one : lists) all_pixels.push_back(one.pixels), all_labels.push_back(one.labels);
    return {at::cat(all_pixels), at::cat(all_labels)};
  }
};

/// Returns the values of an i64 tensor, such as labels.
inline std::vector<std::int64_t> values(at::Tensor const& x) {
  return {x.const_data_ptr<std::int64_t>(), x.const_data_ptr<std::int64_t>() + x.numel()};
}

inline std::vector<std::string> const digit_names{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

/// A way to draw seven-segment digits. Each digit is turned, moved and stretched at random.
struct drawing {
  int side;               ///< Pixels of an image's side
  double turn = 0.25;     ///< Largest angle, in radians
  double move = 1.2;      ///< Largest shift in each direction, in pixels
  double stretch = 0.15;  ///< Largest change of width and of height, as a share of each
  float noise = 0.25F;    ///< Standard deviation of the noise of each pixel

  /// Returns `count` digits. Equal seeds give equal digits.
  digits operator()(std::int64_t count, std::uint64_t seed) const {
    // The ends of the seven strokes (x, y, x, y), and the strokes of each digit as bits.
    constexpr std::array<double, 28> strokes = {0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 2, 0, 2,
                                                1, 2, 0, 1, 0, 2, 0, 0, 0, 1, 0, 1, 1, 1};
    constexpr std::array<unsigned, 10> shown = {0x3F, 0x06, 0x5B, 0x4F, 0x66, 0x6D, 0x7D, 0x07, 0x7F, 0x6F};
    std::mt19937 random(seed);
    std::normal_distribution<float> pixel_noise(0, noise);
    std::uniform_real_distribution<double> turned(-turn, turn), moved(-move, move), scale(1 - stretch, 1 + stretch);
    double const middle = side / 2.0, length = 5 * side / 16.0;
    int const steps = 12 * side / 16;
    digits all{at::empty({count, side * side}), at::empty({count}, at::kLong)};
    for (std::int64_t n = 0; n < count; ++n) {
      auto const digit = random() % 10;
      float* const pixels = all.pixels[n].data_ptr<float>();
      for (int i = 0; i < side * side; ++i) pixels[i] = pixel_noise(random);
      double const angle = turned(random), x0 = middle + moved(random), y0 = middle + moved(random),
                   wide = length * scale(random), high = length * scale(random);
      for (std::size_t s = 0; s < 7; ++s) {
        if ((shown[digit] >> s & 1) == 0) continue;
        for (int step = 0; step <= steps; ++step) {
          double const t = static_cast<double>(step) / steps,
                       x = strokes[4 * s] * (1 - t) + strokes[4 * s + 2] * t - 0.5,
                       y = strokes[4 * s + 1] * (1 - t) + strokes[4 * s + 3] * t - 1;
          auto const column = static_cast<int>(x0 + std::cos(angle) * x * wide - std::sin(angle) * y * high);
          auto const row = static_cast<int>(y0 + std::sin(angle) * x * wide + std::cos(angle) * y * high);
          if (row >= 0 && row < side && column >= 0 && column < side) pixels[row * side + column] += 1;
        }
      }
      all.labels[n] = static_cast<std::int64_t>(digit);
    }
    return all;
  }
};
