#pragma once

#include <redco/random/detail/philox_rounds.hpp>
#include <redco/random/detail/words_scalar.hpp>
#include <redco/random/stream.hpp>

#if defined(__x86_64__)

#include <cstdint>
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
