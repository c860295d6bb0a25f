#pragma once

#include <redco/random/detail/philox_rounds.hpp>

#include <cstdint>

namespace redco::random {

/// A sequence of random numbers that is independent of other streams, identified by a 64-bit key
/// for the Philox generator. A stream has no position: each number is a function of the stream and
/// of coordinates. Equal streams and coordinates give equal numbers on every rank.
struct stream {
  std::uint32_t k0 = 0;
  std::uint32_t k1 = 0;

  friend constexpr bool operator==(stream, stream) = default;
};

/// Returns the stream for one use of random numbers in one step. `seed` is the program's seed,
/// `site` the number of the layer or use, `step` the optimizer step, and `call` counts the uses
/// within the step. Different arguments give unrelated streams. The stream's key is the first half
/// of the Philox block of {site, step, call} under the key `seed`.
constexpr stream make_stream(std::uint64_t seed, std::uint32_t site, std::uint64_t step, std::uint32_t call) noexcept {
  auto const block =
      detail::philox_block({site, static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32), call},
                           static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
  return {block[0], block[1]};
}

}  // namespace redco::random
