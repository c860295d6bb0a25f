#pragma once

// Functions that the tests of comm/ share.

#include "comm/values.hpp"
#include "torch_catch.hpp"

#include <redco/comm/thread_world.hpp>

#include <chrono>
#include <utility>

namespace comm_test {

/// Runs `f` on `n` ranks with a short deadline.
template <class F>
void on_ranks(int n, F&& f, int deadline_ms = 20'000) {
  redco::comm::rank_options options;
  options.first_deadline = options.deadline = std::chrono::milliseconds(deadline_ms);
  redco::comm::run_ranks({.dp = n, .tp = 1}, options, std::forward<F>(f));
}

/// Runs `f` on `n` ranks and returns the error with which it ends.
template <class F>
redco::error failure_of(int n, F&& f, int deadline_ms = 20'000) {
  try {
    on_ranks(n, std::forward<F>(f), deadline_ms);
  } catch (redco::error const& failure) {
    return failure;
  }
  return redco::error(redco::exit_code::done, "nothing failed");
}

}  // namespace comm_test
