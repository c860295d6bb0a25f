#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace redco::comm {

/// A rule that decides if threads spin or sleep while they wait for each other. Spinning is fastest
/// on a quiet machine, but takes cores from other work on a busy machine.
class wait_decision {
 public:
  /// Adds a measurement over the last `seconds`. `share` is the fraction of that time in which a
  /// thread was ready to run but had no core, for the thread with the largest fraction. Returns
  /// true if threads should now spin only briefly.
  bool update(double share, double seconds);

 private:
  bool shortened_ = false;
  double share_ = 0;  ///< smoothed fraction of time in which a thread had no core
  double calm_ = 0;   ///< seconds since the last contention for cores
  /// Seconds without contention for cores after which threads spin long again. Doubles with each
  /// switch, up to a limit.
  double hold_ = 1;
};

/// Returns the total time, in nanoseconds, for which each other thread of this process was ready to
/// run but had no core, by thread id. Returns an empty map if the kernel does not report it.
std::map<int, std::uint64_t> core_delays();

/// Returns the largest fraction of an interval for which a thread waited for a core. `before` and
/// `after`: results of core_delays() at the ends of the interval. `nanoseconds`: length of the
/// interval. A thread that `before` does not contain counts with delay 0 there.
double largest_share(std::map<int, std::uint64_t> const& before, std::map<int, std::uint64_t> const& after,
                     double nanoseconds);

/// Returns true if the address space has room for twice the stacks of `threads` threads. libgomp
/// ends the process if it cannot start a thread.
bool has_room_for(std::size_t threads);

/// A background policy that shortens the spinning of OpenMP threads while other work wants the
/// cores. libgomp's threads spin for milliseconds in each wait, which costs a small model most of
/// its speed (`scripts/bench waiting`). They spin 100 instead of 300000 turns while there are more
/// OpenMP threads than cores (GOMP_SPINCOUNT in the manual). The policy therefore creates idle
/// threads, because libgomp's settings are fixed when the library is loaded. It does nothing with
/// another OpenMP library, or if OMP_WAIT_POLICY or GOMP_SPINCOUNT is set.
class wait_policy {
 public:
  /// Starts a thread that watches for contention for cores. It calls `on_change(true)` when OpenMP
  /// threads begin to spin briefly, and `on_change(false)` when they spin long again.
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
  std::thread thread_;  ///< watching thread; not started if the policy does nothing
};

}  // namespace redco::comm

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/wait_policy.inl.hpp>
#endif
