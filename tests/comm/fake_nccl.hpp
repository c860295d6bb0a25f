#pragma once

// The requests of a test to tests/comm/fake_nccl.cpp, and its answers.

namespace comm_test {

inline constexpr int every_rank = -1;

struct fake_plan {
  int delay_us = 0;    ///< delay of a call until it starts on the device, and until it is in flight
  bool hangs = false;  ///< true: no call ends unless it is aborted
  /// Name of the function that fails, or "ncclCommGetAsyncError"; "join": the latter, before all
  /// ranks have joined.
  char const* failing = "";
  int failing_rank = 0;  ///< rank in its communicator, or every_rank
  unsigned failing_result = 3;
};

/// Numbers of communicators made since the last plan, of all communicators not aborted, and of
/// calls enqueued.
struct fake_counts {
  int made = 0, alive = 0, calls = 0;
};

using plan_function = void(fake_plan const*);
using counts_function = void(fake_counts*);

}  // namespace comm_test
