#pragma once

#include <algorithm>
#include <cstdint>

namespace redco::shape {

/// A division of a flat buffer of `size` units (elements or bytes) into buckets, which are sent one
/// by one. Each bucket has `most` units; the last may have fewer. There are no buckets if `size` is
/// 0, and there is one if `most` is 0.
struct buckets {
  std::int64_t size = 0;
  std::int64_t most = 0;

  constexpr std::int64_t count() const {
    if (most <= 0) return size > 0 ? 1 : 0;
    return (size + most - 1) / most;
  }
  constexpr std::int64_t begin(std::int64_t bucket) const { return bucket * most; }
  constexpr std::int64_t end(std::int64_t bucket) const {
    return most <= 0 ? size : std::min(size, (bucket + 1) * most);
  }
  /// Returns the index of the bucket that contains the unit at offset `place` of the buffer.
  constexpr std::int64_t of(std::int64_t place) const { return most <= 0 ? 0 : place / most; }

  friend constexpr bool operator==(buckets const&, buckets const&) = default;
};

}  // namespace redco::shape
