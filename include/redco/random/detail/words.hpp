#pragma once

#include <redco/random/detail/philox_rounds.hpp>
#include <redco/random/stream.hpp>

#include <algorithm>
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

#if defined(__x86_64__)

#include <cstring>

namespace redco::random::detail {

// Uses the compilers' vector types, because including <immintrin.h> takes longer than this room's
// compile-time limit.

/// A vector register of Bytes bytes that holds whole Philox counters. Each 128-bit lane is one
/// counter {x0, x1, x2, x3} of four 32-bit words.
template <int Bytes>
struct counter_register {
  using words [[gnu::vector_size(Bytes)]] = std::uint32_t;
  using pairs [[gnu::vector_size(Bytes)]] = std::uint64_t;
};

/// Replaces `a` by the 64-bit products of its even 32-bit words with those of `b`: {a0 * b0, a2 *
/// b2, ...}. clang compiles the plain expression to one instruction, g++ to three multiplications.
/// g++ therefore uses assembly; its builtins cannot be called in a template without a target.
template <int Bytes>
[[gnu::always_inline]] inline void multiply_even(typename counter_register<Bytes>::words& a,
                                                 typename counter_register<Bytes>::words const& b) {
#if defined(__clang__)
  using pairs = typename counter_register<Bytes>::pairs;
  a = (typename counter_register<Bytes>::words)(((pairs)a & 0xFFFFFFFFu) * ((pairs)b & 0xFFFFFFFFu));
#else
  if constexpr (Bytes == 16) __asm__("pmuludq %1, %0" : "+x"(a) : "x"(b));
  else __asm__("vpmuludq %1, %0, %0" : "+v"(a) : "v"(b));
#endif
}

/// Reverses the order of the four 32-bit words in each 128-bit lane of `a`.
template <int Bytes>
[[gnu::always_inline]] inline void reverse_lanes(typename counter_register<Bytes>::words& a) {
  if constexpr (Bytes == 64) a = __builtin_shufflevector(a, a, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
  else if constexpr (Bytes == 32) a = __builtin_shufflevector(a, a, 3, 2, 1, 0, 7, 6, 5, 4);
  else a = __builtin_shufflevector(a, a, 3, 2, 1, 0);
}

/// Computes one Philox round for all counters in the register `x`, in four instructions.
/// Multiplying words 0 and 2 gives {lo0, hi0, lo1, hi1}. The reversed product is the next state
/// after two xors into its words 0 and 2: with the old words 1 and 3, and with the key.
template <int Bytes>
[[gnu::always_inline]] inline void round_of(typename counter_register<Bytes>::words& x,
                                            typename counter_register<Bytes>::words const& multiplier,
                                            typename counter_register<Bytes>::words const& key) {
  using words = typename counter_register<Bytes>::words;
  words const odd = (words)((typename counter_register<Bytes>::pairs)x >> 32);
  multiply_even<Bytes>(x, multiplier);
  reverse_lanes<Bytes>(x);
  x = x ^ odd ^ key;
}

/// Writes `blocks` Philox blocks of four random words to `out`. Word 0 of their counters is block,
/// block + 1, ... . Returns the number of blocks written; the caller writes the rest. Eight
/// registers hide the latency of the multiplication. They are eight variables, because g++ keeps an
/// array in memory.
template <int Bytes>
[[gnu::always_inline]] inline std::int64_t write_blocks(std::uint32_t* out, std::uint32_t block, std::int64_t blocks,
                                                        word_coordinates c, stream s) {
  using words = typename counter_register<Bytes>::words;
  constexpr int lanes = Bytes / 16, chains = 8;
  words multiplier{}, weyl{}, key0{}, start{}, advance{};
  for (int lane = 0; lane < lanes; ++lane) {
    int const w = 4 * lane;
    multiplier[w] = philox_multiplier_0, multiplier[w + 2] = philox_multiplier_1;
    weyl[w] = philox_weyl_0, weyl[w + 2] = philox_weyl_1;
    key0[w] = s.k0, key0[w + 2] = s.k1;
    start[w] = block + static_cast<std::uint32_t>(lane), start[w + 1] = c.c1, start[w + 2] = c.c2, start[w + 3] = c.c3;
    advance[w] = lanes;
  }
  std::int64_t done = 0;
  for (; done + chains * lanes <= blocks; done += chains * lanes) {
    words x0 = start, x1 = x0 + advance, x2 = x1 + advance, x3 = x2 + advance;
    words x4 = x3 + advance, x5 = x4 + advance, x6 = x5 + advance, x7 = x6 + advance;
    start = x7 + advance;
    words key = key0;
    for (int round = 0; round < philox_rounds; ++round) {
      round_of<Bytes>(x0, multiplier, key);
      round_of<Bytes>(x1, multiplier, key);
      round_of<Bytes>(x2, multiplier, key);
      round_of<Bytes>(x3, multiplier, key);
      round_of<Bytes>(x4, multiplier, key);
      round_of<Bytes>(x5, multiplier, key);
      round_of<Bytes>(x6, multiplier, key);
      round_of<Bytes>(x7, multiplier, key);
      key += weyl;
    }
    words const group[chains] = {x0, x1, x2, x3, x4, x5, x6, x7};
    std::memcpy(out + 4 * done, group, sizeof group);
  }
  return done;
}

[[gnu::target("avx512f")]] inline std::int64_t blocks_avx512(std::uint32_t* out, std::uint32_t block,
                                                             std::int64_t blocks, word_coordinates c, stream s) {
  return write_blocks<64>(out, block, blocks, c, s);
}

[[gnu::target("avx2")]] inline std::int64_t blocks_avx2(std::uint32_t* out, std::uint32_t block, std::int64_t blocks,
                                                        word_coordinates c, stream s) {
  return write_blocks<32>(out, block, blocks, c, s);
}

inline std::int64_t blocks_sse2(std::uint32_t* out, std::uint32_t block, std::int64_t blocks, word_coordinates c,
                                stream s) {
  return write_blocks<16>(out, block, blocks, c, s);
}

}  // namespace redco::random::detail

#endif

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
