#pragma once

#include <redco/random/detail/philox_rounds.hpp>

#include <cstdint>
#include <string_view>

namespace redco::random {

/// Returns the site number of a layer or other use of random numbers, for make_stream(). It is the
/// FNV-1a hash of the name, equal on all meshes and machines.
constexpr std::uint32_t site_of(std::string_view name) {
  std::uint32_t hash = 2166136261u;
  for (char const c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

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

/// Returns a seed for one component of a program, such as the sampler, from the program's seed and
/// the component's name. Different names give different seeds, which also differ from `seed`
/// itself.
constexpr std::uint64_t seed_of(std::uint64_t seed, std::string_view name) {
  stream const key = make_stream(seed, site_of(name), 0, 0);
  return (static_cast<std::uint64_t>(key.k1) << 32) | key.k0;
}

}  // namespace redco::random
