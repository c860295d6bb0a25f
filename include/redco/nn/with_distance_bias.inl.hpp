#pragma once

#include <redco/nn/with_distance_bias.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <cmath>

namespace redco::nn::detail {

REDCO_INLINE at::Tensor distance_buckets(std::int64_t length, std::int64_t buckets, std::int64_t farthest,
                                         bool both_ways) {
  at::Tensor const result = at::empty({2 * length - 1}, at::kLong);
  auto* const to = result.mutable_data_ptr<std::int64_t>();
  std::int64_t const ways = both_ways ? buckets / 2 : buckets, single = ways / 2;
  double const widest = std::log(static_cast<double>(farthest) / static_cast<double>(single));
  for (std::int64_t i = 0; i < 2 * length - 1; ++i) {
    std::int64_t const distance = i - (length - 1);  // Key position minus query position
    std::int64_t const offset = both_ways && distance > 0 ? ways : 0;
    std::int64_t const steps = both_ways ? std::abs(distance) : std::max<std::int64_t>(-distance, 0);
    std::int64_t bucket = steps;
    if (steps >= single) {
      auto const grown = std::log(static_cast<float>(steps) / static_cast<float>(single)) / static_cast<float>(widest) *
                         static_cast<float>(ways - single);
      bucket = std::min(single + static_cast<std::int64_t>(grown), ways - 1);
    }
    to[i] = offset + bucket;
  }
  return result;
}

}  // namespace redco::nn::detail
