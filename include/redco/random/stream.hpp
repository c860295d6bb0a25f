#pragma once

#include <redco/random/detail/philox_rounds.hpp>

#include <cstdint>

namespace redco::random {

/// One independent sequence of random numbers: the 64-bit key of a Philox generator. It holds no position: every number
/// drawn from it is named by coordinates, so equal streams and coordinates give equal numbers on every rank.
struct stream {
  std::uint32_t k0 = 0;
  std::uint32_t k1 = 0;

  friend constexpr bool operator==(stream, stream) = default;
};

/// The stream of one place in one step: `seed` of the run, `site` (which layer or which use), `step` (optimizer
/// update), `call` (how often the site was used within the step). Different arguments give unrelated streams: the key
/// is the first half of the Philox block of {site, step, call} under the key `seed`.
constexpr stream make_stream(std::uint64_t seed, std::uint32_t site, std::uint64_t step, std::uint32_t call) noexcept {
  auto const block =
      detail::philox_block({site, static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32), call},
                           static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
  return {block[0], block[1]};
}

}  // namespace redco::random
