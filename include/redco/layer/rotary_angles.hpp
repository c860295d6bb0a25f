#pragma once

#include <cstdint>

namespace redco::layers {

/// Choices of the feature pairs that rotate together: i and i + half of the rotated features
/// (`halves`, LLaMA), or 2i and 2i + 1 (`neighbours`, GPT-J).
enum class rotary_pairs : unsigned char { halves, neighbours };

/// The scaling of rotary frequencies of LLaMA 3.1, for sequences longer than in training. A
/// frequency whose wavelength exceeds context / low_frequency is divided by `factor`. A frequency
/// whose wavelength is below context / high_frequency is unchanged. Between both, frequencies are
/// interpolated. A `factor` of 1 means no scaling.
struct rotary_scaling {
  double factor = 1;
  double low_frequency = 1;
  double high_frequency = 4;
  std::int64_t context = 8192;  ///< Sequence length in training, in tokens

  friend constexpr bool operator==(rotary_scaling const&, rotary_scaling const&) = default;
};

/// The rotary angles of queries and keys: pair i of `dims` rotated features is rotated by position
/// * theta^(-2i / dims).
struct rotary_angles {
  /// Number of features per head that are rotated, from the first on; 0: none
  std::int64_t dims = 0;
  double theta = 10000;
  rotary_pairs pairs = rotary_pairs::halves;
  rotary_scaling scaling;

  friend constexpr bool operator==(rotary_angles const&, rotary_angles const&) = default;
};

}  // namespace redco::layers
