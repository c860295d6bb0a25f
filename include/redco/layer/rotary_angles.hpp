#pragma once

#include <cstdint>

namespace redco {

/// Pairs of features that rotate together: i and i + half (`halves`, LLaMA), or 2i and 2i + 1
/// (`neighbours`, GPT-J).
enum class rotary_pairs : unsigned char { halves, neighbours };

/// The scaling of rotary frequencies of LLaMA 3.1, for sequences longer than in training. A
/// frequency whose wavelength exceeds context / low_frequency is divided by `factor`. A wavelength
/// below context / high_frequency keeps its frequency, and frequencies between are interpolated.
/// Factor 1: no scaling.
struct rotary_scaling {
  double factor = 1;
  double low_frequency = 1;
  double high_frequency = 4;
  std::int64_t context = 8192;  ///< Sequence length in training, tokens

  friend constexpr bool operator==(rotary_scaling const&, rotary_scaling const&) = default;
};

/// The rotation of queries and keys by position: pair i of `dims` features rotates by position *
/// theta^(-2i / dims).
struct rotary_angles {
  std::int64_t dims = 0;  ///< Number of a head's features that rotate, from the first on; 0: none
  double theta = 10000;
  rotary_pairs pairs = rotary_pairs::halves;
  rotary_scaling scaling;

  friend constexpr bool operator==(rotary_angles const&, rotary_angles const&) = default;
};

}  // namespace redco
