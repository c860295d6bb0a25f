#pragma once

#include <redco/kernel/composed/widened.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/random/random_words.hpp>
#include <redco/random/stream.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::kernel::composed {

/// Returns dropout factors, f64 [rows, n] in CPU memory. A factor is 0 if its random 32-bit word
/// is below `dropped`, else `kept`. words_of(row, out) must write the n random words of a row to
/// `out`.
template <class Words>
at::Tensor keyed_factors(std::int64_t rows, std::int64_t n, std::uint32_t dropped, double kept, Words const& words_of) {
  at::Tensor const factors = at::empty({rows, n}, at::kDouble);
  double* to = factors.mutable_data_ptr<double>();
  std::vector<std::uint32_t> words(static_cast<std::size_t>(n));
  for (std::int64_t row = 0; row < rows; ++row) {
    words_of(row, words.data());
    for (std::uint32_t const word : words) *to++ = word < dropped ? 0 : kept;
  }
  return factors;
}

/// Parameters of a dropout call: the probability, the random stream, and the global coordinates of
/// the first element.
struct dropout_key {
  double probability;
  random::stream numbers;
  std::int64_t row0, feature0, position0;

  /// Returns the dropout threshold. An element is zeroed if its random 32-bit word is below the
  /// threshold.
  std::uint32_t threshold() const {
    return static_cast<std::uint32_t>(std::min(std::llround(probability * 0x1p32), 0xFFFFFFFFll));
  }
  double scale() const { return 1 / (1 - probability); }
};

/// Applies dropout with ATen operators, as the reference. Autograd saves the mask.
inline at::Tensor dropout(at::Tensor const& x, dropout_key const& key) {
  if (x.numel() == 0) return x.clone();
  std::int64_t const features = x.size(-1), positions = x.numel() / (x.size(0) * features);
  auto const words_of = [&](std::int64_t i, std::uint32_t* words) {
    random::random_words(words, key.feature0, features, static_cast<std::uint32_t>(key.position0 + i % positions),
                         static_cast<std::uint32_t>(key.row0 + i / positions), 0, key.numbers);
  };
  at::Tensor const wide = widened(x);
  at::Tensor const factors =
      keyed_factors(x.size(0) * positions, features, key.threshold(), key.scale(), words_of).view(x.sizes());
  return (wide * factors.to(wide.options())).to(x.scalar_type());
}

}  // namespace redco::kernel::composed
