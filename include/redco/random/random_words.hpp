#pragma once

#include <redco/random/stream.hpp>

#include <cstdint>

namespace redco::random {

/// Writes the random words of consecutive features [first, first + n) at the coordinates (c1, c2, c3) to `out`: word f
/// is `philox({f / 4, c1, c2, c3}, s)[f % 4]`, whatever run it is part of. By convention c1 is a position (or query),
/// c2 the global row, c3 what else there is (a head). Uses AVX512 or AVX2 where the processor has them, with equal
/// words. Requires 0 <= first and first + n <= 2^34. Costs about half a nanosecond a word.
void random_words(std::uint32_t* out, std::int64_t first, std::int64_t n, std::uint32_t c1, std::uint32_t c2,
                  std::uint32_t c3, stream s);

}  // namespace redco::random

#ifndef REDCO_COMPILED
#include <redco/random/random_words.inl.hpp>
#endif
