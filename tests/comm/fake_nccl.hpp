#pragma once

// What a test tells tests/comm/fake_nccl.cpp, and asks it.

namespace comm_test {

inline constexpr int every_rank = -1;

struct fake_plan {
  int delay_us = 0;    ///< of a call, until its device begins, and until it is under way
  bool hangs = false;  ///< no call ends unless it is aborted
  char const* failing =
      "";                ///< the function that fails, or "ncclCommGetAsyncError"; "join": that, before all have come
  int failing_rank = 0;  ///< of its communicator, or every_rank
  unsigned failing_result = 3;
};

/// How many communicators were made since the last plan, and how many, of all, have not been aborted; how many calls were enqueued.
struct fake_counts {
  int made = 0, alive = 0, calls = 0;
};

using plan_function = void(fake_plan const*);
using counts_function = void(fake_counts*);

}  // namespace comm_test
