#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace redco::comm {

/// A rule that decides how threads wait for each other. Spinning is fastest on a quiet machine, but
/// takes cores from other work on a busy machine.
class wait_decision {
 public:
  /// Records the last `seconds`. `share` is the largest fraction of this time, over all threads of
  /// the process, in which a thread was ready but had no core. Returns true while waits should be
  /// short.
  bool update(double share, double seconds);

 private:
  bool shortened_ = false;
  double share_ = 0;  ///< smoothed fraction of time without a core
  double calm_ = 0;   ///< seconds without contention so far
  /// Seconds without contention after which threads spin again; doubles with each switch, up to a
  /// limit.
  double hold_ = 1;
};

/// Returns the nanoseconds that each other thread of this process has been ready without a core, by
/// thread id. Returns an empty map if the kernel does not report them.
std::map<int, std::uint64_t> core_delays();

/// Returns the largest growth of a thread's delay from `before` to `after`, as a fraction of
/// `nanoseconds`. For a new thread, the delay since its start counts.
double largest_share(std::map<int, std::uint64_t> const& before, std::map<int, std::uint64_t> const& after,
                     double nanoseconds);

/// A policy that shortens the waits of OpenMP threads while other work wants the cores. Threads of
/// libgomp spin for milliseconds in each wait, which costs a small model most of its speed
/// (`scripts/bench waiting`). They spin 100 turns instead of 300000 while there are more OpenMP
/// threads than cores (GOMP_SPINCOUNT in the manual). The policy therefore adds idle threads;
/// libgomp's own wait policy is fixed when the library is loaded. The policy does nothing with
/// another OpenMP library, or if OMP_WAIT_POLICY or GOMP_SPINCOUNT is set.
class wait_policy {
 public:
  /// Starts a thread that watches for contention. The thread calls `on_change(true)` when waits
  /// become short, and `on_change(false)` when threads spin again.
  explicit wait_policy(std::function<void(bool shortened)> on_change);
  wait_policy(wait_policy const&) = delete;
  wait_policy& operator=(wait_policy const&) = delete;
  ~wait_policy();

 private:
  class idle_team;
  void watch();

  std::function<void(bool)> on_change_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread thread_;  ///< not started if the policy does nothing
};

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/wait_policy.inl.hpp>
#endif
