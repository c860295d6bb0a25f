#pragma once

#include <cstdint>

namespace redco {

/// Which two features of a head turn together: i and i + half (LLaMA), or 2i and 2i + 1 (GPT-J).
enum class rotary_pairs : unsigned char { halves, neighbours };

/// How LLaMA 3.1 stretches angles to read beyond the length it was trained on. A frequency whose wavelength is longer than
/// context / low_frequency is divided by `factor`, one shorter than context / high_frequency stays, and between the two
/// it is interpolated. Factor 1: no stretch.
struct rotary_scaling {
  double factor = 1;
  double low_frequency = 1;
  double high_frequency = 4;
  std::int64_t context = 8192;  ///< the length trained on

  friend constexpr bool operator==(rotary_scaling const&, rotary_scaling const&) = default;
};

/// Rotation of queries and keys by position: pair i of `dims` features turns by position * theta^(-2i / dims).
struct rotary_angles {
  std::int64_t dims = 0;  ///< how many of a head's features turn, from the first; 0: none
  double theta = 10000;
  rotary_pairs pairs = rotary_pairs::halves;
  rotary_scaling scaling;

  friend constexpr bool operator==(rotary_angles const&, rotary_angles const&) = default;
};

}  // namespace redco
