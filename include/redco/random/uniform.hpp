#pragma once

#include <redco/random/philox.hpp>
#include <redco/random/stream.hpp>

#include <array>
#include <cstdint>

namespace redco::random {

namespace detail {

/// The double in [0, 1) of 53 of the 64 bits of two words.
constexpr double unit_double(std::uint32_t low, std::uint32_t high) noexcept {
  std::uint64_t const bits = (std::uint64_t{high} << 32 | low) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

}  // namespace detail

/// The uniform number in [0, 1) of index `index` of a stream, with 53 random bits. It depends on (stream, index) only.
constexpr double uniform_at(stream s, std::uint64_t index) noexcept {
  auto const block =
      philox({static_cast<std::uint32_t>(index / 2), static_cast<std::uint32_t>(index / 2 >> 32), 0, 0}, s);
  return index % 2 == 0 ? detail::unit_double(block[0], block[1]) : detail::unit_double(block[2], block[3]);
}

}  // namespace redco::random
