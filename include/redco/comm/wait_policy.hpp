#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace redco::comm {

/// Decides how threads wait for each other: spinning is fastest on a quiet machine and takes the
/// cores from other work on a busy one.
class wait_decision {
 public:
  /// Takes in the last `seconds`, of which one thread of the process was ready and without a core
  /// for the part `share`, the largest of all threads. Returns true while waits are to be short.
  bool update(double share, double seconds);

 private:
  bool shortened_ = false;
  double share_ = 0;  ///< smoothed
  double calm_ = 0;   ///< seconds without contention
  double hold_ = 1;   ///< calm seconds after which threads spin again; longer from switch to switch
};

/// Nanoseconds that each other thread of this process has been ready and without a core, by thread
/// id. Empty if the kernel does not report it.
std::map<int, std::uint64_t> core_delays();

/// The largest part of `nanoseconds` by which the delay of a thread grew. Threads that are new
/// count from their start.
double largest_share(std::map<int, std::uint64_t> const& before, std::map<int, std::uint64_t> const& after,
                     double nanoseconds);

/// Shortens the waits of OpenMP threads while other work wants the cores: libgomp's threads spin
/// for milliseconds in each wait, which costs a small model most of its speed (`scripts/bench
/// waiting`). libgomp reads its wait policy when it is loaded, but spins 100 turns instead of
/// 300000 while there are more OpenMP threads than cores (GOMP_SPINCOUNT in its manual): idle
/// threads make it so. Does nothing with another OpenMP library, and where OMP_WAIT_POLICY or
/// GOMP_SPINCOUNT is set.
class wait_policy {
 public:
  /// `on_change` is called with true when waits become short and with false when threads spin
  /// again, from a thread of its own.
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
  std::thread thread_;  ///< none where there is nothing to do
};

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/wait_policy.inl.hpp>
#endif
