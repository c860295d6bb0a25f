#pragma once

#include <redco/random/stream.hpp>

#include <cstdint>

namespace redco::random {

/// Writes n random 32-bit words, for the features [first, first + n) of a row, to `out`. The word
/// of feature f is `philox({f / 4, c1, c2, c3}, s)[f % 4]`, independent of `first` and `n`. By
/// convention c1 is a position (or query), c2 the global row, and c3 an extra index (a head).
///
/// Uses AVX512 or AVX2 if the CPU has them; all variants write equal words. Requires 0 <= first and
/// first + n <= 2^34. Takes about 0.5 ns per word.
void random_words(std::uint32_t* out, std::int64_t first, std::int64_t n, std::uint32_t c1, std::uint32_t c2,
                  std::uint32_t c3, stream s);

}  // namespace redco::random

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/random/random_words.inl.hpp>
#endif
