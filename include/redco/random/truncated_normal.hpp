#pragma once

#include <redco/random/normal.hpp>
#include <redco/random/philox.hpp>
#include <redco/random/stream.hpp>

#include <cmath>
#include <cstdint>

namespace redco::random {

/// Returns the number with the index `index` of a stream from the standard normal distribution
/// truncated to [-bound, bound]. A number outside is rejected and replaced by another number of the
/// same index. The result therefore depends only on (stream, index, bound). Requires bound >= 0.1.
inline double truncated_normal_at(stream s, std::uint64_t index, double bound = 2.0) {
  for (std::uint32_t attempt = 0;; ++attempt) {
    auto const block =
        philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), attempt, 2}, s);
    auto const pair = detail::normal_pair(block.data());
    if (std::abs(pair.first) <= bound) return pair.first;
    if (std::abs(pair.second) <= bound) return pair.second;
  }
}

}  // namespace redco::random
