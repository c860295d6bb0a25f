#pragma once

#include <redco/random/site_of.hpp>
#include <redco/random/stream.hpp>

#include <cstdint>
#include <string_view>

namespace redco::random {

/// Returns a seed for one component of a program, such as the sampler, from the program's seed and
/// the component's name. Different names give different seeds, which also differ from `seed`
/// itself.
constexpr std::uint64_t seed_of(std::uint64_t seed, std::string_view name) {
  stream const key = make_stream(seed, site_of(name), 0, 0);
  return (static_cast<std::uint64_t>(key.k1) << 32) | key.k0;
}

}  // namespace redco::random
