#pragma once

#include <cstdint>
#include <initializer_list>

namespace redco {

/// The largest of some numbers that are not negative; 0 of none. Plans need no more of <algorithm>, a dear header.
constexpr std::int64_t largest(std::initializer_list<std::int64_t> numbers) {
  std::int64_t most = 0;
  for (std::int64_t const n : numbers) most = n > most ? n : most;
  return most;
}

}  // namespace redco
