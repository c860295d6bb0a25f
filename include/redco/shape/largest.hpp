#pragma once

#include <cstdint>
#include <initializer_list>

namespace redco::shape {

/// Returns the largest of `numbers`, which must be >= 0; returns 0 for an empty list. Used instead
/// of std::max in plans, because <algorithm> is slow to compile.
constexpr std::int64_t largest(std::initializer_list<std::int64_t> numbers) {
  std::int64_t most = 0;
  for (std::int64_t const n : numbers) most = n > most ? n : most;
  return most;
}

}  // namespace redco::shape
