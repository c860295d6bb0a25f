#pragma once

#include <cstdint>

namespace redco::data {

/// A range of indices begin, begin + 1, ..., end - 1.
struct interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  constexpr std::int64_t size() const { return end - begin; }
  constexpr bool empty() const { return end <= begin; }

  friend constexpr bool operator==(interval const&, interval const&) = default;
};

/// Returns part `index` of the interval `whole`, cut into `parts` contiguous parts. Their sizes
/// differ by at most one, larger parts first: 16 elements in 3 parts are 6, 5, 5. With fewer
/// elements than parts, the last parts are empty. Requires parts >= 1 and 0 <= index < parts.
constexpr interval shard_of(interval whole, std::int64_t parts, std::int64_t index) {
  std::int64_t const small = whole.size() / parts;
  std::int64_t const larger = whole.size() % parts;
  auto const start = [&](std::int64_t i) { return whole.begin + small * i + (i < larger ? i : larger); };
  return {start(index), start(index + 1)};
}

}  // namespace redco::data
