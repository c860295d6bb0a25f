#pragma once

#include <array>
#include <cstdint>

namespace redco::random::detail {

inline constexpr std::uint32_t philox_multiplier_0 = 0xD2511F53u;
inline constexpr std::uint32_t philox_multiplier_1 = 0xCD9E8D57u;
inline constexpr std::uint32_t philox_weyl_0 = 0x9E3779B9u;
inline constexpr std::uint32_t philox_weyl_1 = 0xBB67AE85u;
inline constexpr int philox_rounds = 10;

/// Returns the four random 32-bit words that Philox4x32 with ten rounds makes from the counter `x`
/// and the key {k0, k1}.
constexpr std::array<std::uint32_t, 4> philox_block(std::array<std::uint32_t, 4> x, std::uint32_t k0,
                                                    std::uint32_t k1) noexcept {
  for (int round = 0; round < philox_rounds; ++round) {
    std::uint64_t const a = std::uint64_t{philox_multiplier_0} * x[0];
    std::uint64_t const b = std::uint64_t{philox_multiplier_1} * x[2];
    x = {static_cast<std::uint32_t>(b >> 32) ^ x[1] ^ k0, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ x[3] ^ k1, static_cast<std::uint32_t>(a)};
    k0 += philox_weyl_0;
    k1 += philox_weyl_1;
  }
  return x;
}

}  // namespace redco::random::detail
