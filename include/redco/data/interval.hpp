#pragma once

#include <cstdint>

namespace redco {

/// The indices begin, begin + 1, ..., end - 1.
struct interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  constexpr std::int64_t size() const { return end - begin; }
  constexpr bool empty() const { return end <= begin; }

  friend constexpr bool operator==(interval const&, interval const&) = default;
};

}  // namespace redco
