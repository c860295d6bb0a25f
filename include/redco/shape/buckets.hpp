#pragma once

#include <algorithm>
#include <cstdint>

namespace redco {

/// A flat buffer that is sent in pieces: `size` units (elements, bytes) in pieces of `most`, of which the last may be smaller. Nothing
/// where size is 0; whole where `most` is 0.
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
  /// The bucket in which a unit of the buffer lies.
  constexpr std::int64_t of(std::int64_t place) const { return most <= 0 ? 0 : place / most; }

  friend constexpr bool operator==(buckets const&, buckets const&) = default;
};

}  // namespace redco
