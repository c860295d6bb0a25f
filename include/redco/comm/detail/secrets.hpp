#pragma once

#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/random.h>

namespace redco::comm::detail {

using digest = std::array<std::uint8_t, 32>;

inline std::string_view text_of(digest const& x) { return {reinterpret_cast<char const*>(x.data()), x.size()}; }

/// Returns the SHA-256 digest of `text` (FIPS 180-4).
inline digest sha256(std::string_view text) {
  constexpr std::size_t block_bytes = 64;
  static constexpr std::uint32_t constants[block_bytes] = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
      0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
      0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
      0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
      0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
      0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
      0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
  std::array<std::uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string padded(text);
  padded += '\x80';
  padded.resize((padded.size() + 8 + block_bytes - 1) / block_bytes * block_bytes, '\0');
  std::uint64_t const bits = std::uint64_t{text.size()} * 8;
  for (std::size_t i = 0; i < 8; ++i) padded[padded.size() - 1 - i] = static_cast<char>(bits >> (8 * i));
  for (std::size_t begin = 0; begin < padded.size(); begin += block_bytes) {
    std::uint32_t w[block_bytes];
    for (std::size_t i = 0; i < 16; ++i) {
      w[i] = 0;
      for (std::size_t byte = 0; byte < 4; ++byte)
        w[i] = w[i] << 8 | static_cast<std::uint8_t>(padded[begin + 4 * i + byte]);
    }
    for (std::size_t i = 16; i < block_bytes; ++i) {
      std::uint32_t const a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) + w[i - 7] +
             (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < block_bytes; ++i) {
      std::uint32_t const one =
          h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + w[i];
      std::uint32_t const two = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
    }
    std::uint32_t const mixed[] = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += mixed[i];
  }
  digest made;
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return made;
}

/// Returns the HMAC-SHA-256 of `text` under `key` (RFC 2104), as a proof that the sender knows the
/// key.
inline digest hmac_sha256(std::string_view key, std::string_view text) {
  std::string block(key.size() > 64 ? text_of(sha256(key)) : key);
  block.resize(64, '\0');
  std::string inner = block, outer = block;
  for (char& one : inner) one = static_cast<char>(one ^ 0x36);
  for (char& one : outer) one = static_cast<char>(one ^ 0x5c);
  inner += text;
  outer += text_of(sha256(inner));
  return sha256(outer);
}

/// Returns true if both texts are equal. The time taken does not depend on the position of the
/// first difference, so an attacker learns nothing from measuring it.
inline bool equal_secrets(std::string_view left, std::string_view right) {
  if (left.size() != right.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < left.size(); ++i) difference |= static_cast<unsigned char>(left[i] ^ right[i]);
  return difference == 0;
}

/// Fills `bytes` bytes at `to` with unpredictable random bytes from the system, for secrets. Throws
/// std::runtime_error if the system provides none.
inline void randomize(void* to, std::size_t bytes) {
  if (::getrandom(to, bytes, 0) != static_cast<ssize_t>(bytes))
    throw std::runtime_error(std::string("the system gives no random bytes: ") + std::strerror(errno));
}

/// Returns 128 unpredictable random bits as 32 hexadecimal digits.
inline std::string random_text() {
  std::uint8_t bits[16];
  randomize(bits, sizeof bits);
  std::string text;
  for (std::uint8_t const byte : bits) (text += "0123456789abcdef"[byte >> 4]) += "0123456789abcdef"[byte & 15];
  return text;
}

}  // namespace redco::comm::detail
