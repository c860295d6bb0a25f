#pragma once

#include <redco/random/detail/philox_rounds.hpp>
#include <redco/random/stream.hpp>

#include <array>
#include <cstdint>

namespace redco::random {

/// Returns four random 32-bit words as a pure function of a 128-bit counter and a stream (the key),
/// by the generator Philox4x32-10. Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as
/// easy as 1, 2, 3" (SC 2011).
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, stream s) noexcept {
  return detail::philox_block(counter, s.k0, s.k1);
}

}  // namespace redco::random
