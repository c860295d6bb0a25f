#pragma once

#include <redco/random/detail/philox_rounds.hpp>

#include <cstdint>

namespace redco::random {

/// A sequence of random numbers, independent of other streams: the 64-bit key of a Philox
/// generator. A stream has no position. Each number is identified by coordinates, so equal streams
/// and coordinates give equal numbers on every rank.
struct stream {
  std::uint32_t k0 = 0;
  std::uint32_t k1 = 0;

  friend constexpr bool operator==(stream, stream) = default;
};

/// Returns the stream of one use in one step. `seed` identifies the run, `site` the layer or use,
/// `step` the optimizer update, and `call` the use within the step. Different arguments give
/// unrelated streams. The key is the first half of the Philox block of {site, step, call} under the
/// key `seed`.
constexpr stream make_stream(std::uint64_t seed, std::uint32_t site, std::uint64_t step, std::uint32_t call) noexcept {
  auto const block =
      detail::philox_block({site, static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32), call},
                           static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
  return {block[0], block[1]};
}

}  // namespace redco::random
