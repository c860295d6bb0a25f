#pragma once

#include <redco/random/detail/philox_rounds.hpp>
#include <redco/random/stream.hpp>

#include <cstddef>
#include <cstdint>

namespace redco::random::detail {

/// Words 1, 2 and 3 of a Philox counter. All random words of one call share these coordinates; only
/// word 0 of the counter varies.
struct word_coordinates {
  std::uint32_t c1;
  std::uint32_t c2;
  std::uint32_t c3;
};

/// Writes the random 32-bit words with the indices [first, first + n) at the coordinates `c` of the
/// stream `s` to `out`. Plain C++ code, four words (one Philox block) at a time.
inline void words_scalar(std::uint32_t* out, std::int64_t first, std::int64_t n, word_coordinates c, stream s) {
  for (std::int64_t i = 0; i < n;) {
    std::int64_t const feature = first + i;
    auto const block = philox_block({static_cast<std::uint32_t>(feature / 4), c.c1, c.c2, c.c3}, s.k0, s.k1);
    for (std::int64_t lane = feature % 4; lane < 4 && i < n; ++lane, ++i)
      out[i] = block[static_cast<std::size_t>(lane)];
  }
}

}  // namespace redco::random::detail
