#pragma once

// Catch2's assertions work in one thread only. Ranks use must(), and their world brings its
// exception to the test.

#include <redco/tensor/torch.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace comm_test {

inline void must(bool holds, std::string const& law) {
  if (!holds) throw std::runtime_error("does not hold: " + law);
}

/// Returns values that differ between ranks and elements. None are symmetric, some are not exact in
/// bf16.
inline at::Tensor values(at::IntArrayRef sizes, at::ScalarType type, int rank) {
  std::int64_t const count = c10::multiply_integers(sizes);
  at::Tensor const numbers = (at::arange(count, at::kLong) * 37 + 11 * rank + 5).remainder(101 + rank);
  if (at::isFloatingType(type)) return (numbers.to(at::kDouble) / 7 - 3.1).to(type).view(sizes);
  return numbers.to(type).view(sizes);
}

inline bool mentions(redco::error const& failure, std::string const& part) {
  return std::string(failure.what()).find(part) != std::string::npos;
}

}  // namespace comm_test
