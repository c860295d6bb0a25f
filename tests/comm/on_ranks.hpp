#pragma once

// What the tests of comm/ share. Catch2's assertions are for one thread: ranks use must(), whose exception run_ranks
// brings to the test.

#include "torch_catch.hpp"

#include <redco/comm/ranks.hpp>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

namespace comm_test {

inline void must(bool holds, std::string const& what) {
  if (!holds) throw std::runtime_error("does not hold: " + what);
}

/// Runs `f` on `n` ranks whose waits are short.
template <class F>
void on_ranks(int n, F&& f, int deadline_ms = 20'000) {
  redco::rank_options options;
  options.first_deadline = options.deadline = std::chrono::milliseconds(deadline_ms);
  redco::run_ranks({.dp = n, .tp = 1}, options, std::forward<F>(f));
}

/// The failure with which `f` ends on `n` ranks.
template <class F>
redco::error failure_of(int n, F&& f, int deadline_ms = 20'000) {
  try {
    on_ranks(n, std::forward<F>(f), deadline_ms);
  } catch (redco::error const& failure) {
    return failure;
  }
  return redco::error(redco::exit_code::done, "nothing failed");
}

/// Values that differ between ranks and positions, none of them symmetric, some not exact in bf16.
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
