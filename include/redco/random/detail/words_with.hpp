#pragma once

#include <redco/random/detail/words_scalar.hpp>
#include <redco/random/detail/words_vector.hpp>
#include <redco/random/stream.hpp>

#include <algorithm>
#include <cstdint>

namespace redco::random::detail {

using block_writer = std::int64_t (*)(std::uint32_t*, std::uint32_t, std::int64_t, word_coordinates, stream);

inline std::int64_t blocks_scalar(std::uint32_t* out, std::uint32_t block, std::int64_t blocks, word_coordinates c,
                                  stream s) {
  words_scalar(out, std::int64_t{block} * 4, blocks * 4, c, s);
  return blocks;
}

/// Returns the function that writes random words with the widest vectors that this CPU supports.
inline block_writer best_block_writer() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return blocks_avx512;
  if (__builtin_cpu_supports("avx2")) return blocks_avx2;
  return blocks_sse2;
#else
  return blocks_scalar;
#endif
}

/// Writes the random 32-bit words with the indices [first, first + n) at the coordinates `c` of the
/// stream `s` to `out`. The vector function `write` computes whole blocks of four words. Scalar
/// code computes the words before the first whole block, and a few at the end.
inline void words_with(block_writer write, std::uint32_t* out, std::int64_t first, std::int64_t n, word_coordinates c,
                       stream s) {
  std::int64_t const head = std::min(n, (4 - first % 4) % 4);
  words_scalar(out, first, head, c, s);
  out += head, first += head, n -= head;
  std::int64_t const done = 4 * write(out, static_cast<std::uint32_t>(first / 4), n / 4, c, s);
  out += done, first += done, n -= done;
  if (n >= 16) {
    constexpr std::int64_t group = 128;
    std::uint32_t buffer[group];
    std::int64_t const written = 4 * write(buffer, static_cast<std::uint32_t>(first / 4), group / 4, c, s);
    std::int64_t const taken = std::min(n, written);
    std::copy_n(buffer, taken, out);
    out += taken, first += taken, n -= taken;
  }
  words_scalar(out, first, n, c, s);
}

}  // namespace redco::random::detail
