#pragma once

#include <cstdint>
#include <initializer_list>

namespace redco {

/// The largest of some numbers, at least 0: std::max, whose header would double the compile time of a plan.
constexpr std::int64_t largest(std::initializer_list<std::int64_t> numbers) {
  std::int64_t most = 0;
  for (std::int64_t const n : numbers) most = n > most ? n : most;
  return most;
}

}  // namespace redco
