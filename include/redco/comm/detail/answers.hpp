#pragma once

#include <redco/comm/detail/process_session.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <vector>

namespace redco::comm::detail {

/// A record of the processes that have responded since a run failed (a run is one call of
/// world::run). Each process that learns of the failure notifies all other processes at once, even
/// while its rank computes. A process that sends no such notice is stopped or disconnected, so
/// nobody waits for it.
class answers {
 public:
  explicit answers(int processes = 0) : known_(static_cast<std::size_t>(processes)) {}

  /// Records that this process knows of the failure of the run with number `run`. Returns true if
  /// the failure was not known before.
  bool fail(std::uint64_t run) {
    if (run <= failed_) return false;
    failed_ = run;
    since_ = std::chrono::steady_clock::now();
    return true;
  }

  /// Records that `process` knows how the run with number `run` ended.
  void answer(int process, std::uint64_t run) {
    std::uint64_t& known = known_[static_cast<std::size_t>(process)];
    known = std::max(known, run);
  }

  bool silent(int process) const {
    constexpr auto patience = std::chrono::seconds(4);
    return known_[static_cast<std::size_t>(process)] < failed_ && std::chrono::steady_clock::now() > since_ + patience;
  }

 private:
  /// For each process, the number of the last run whose outcome the process knows.
  std::vector<std::uint64_t> known_;
  std::uint64_t failed_ = 0;
  std::chrono::steady_clock::time_point since_ = {};
};

/// A thread that calls process_session::keep() twice a second, also while no world runs. The other
/// processes therefore know that this process is neither stopped nor gone.
class keeper {
 public:
  explicit keeper(process_session& session) : session_(session), thread_([this] { work(); }) {}
  keeper(keeper const&) = delete;
  keeper& operator=(keeper const&) = delete;
  ~keeper() {
    {
      std::lock_guard const lock(mutex_);
      over_ = true;
    }
    bell_.notify_all();
    thread_.join();
  }

 private:
  void work() {
    pthread_setname_np(pthread_self(), "redco keeper");
    std::unique_lock lock(mutex_);
    try {
      while (!bell_.wait_for(lock, std::chrono::milliseconds(500), [&] { return over_; })) session_.keep();
    } catch (std::exception const&) {
      // The transport is broken; the next run reports the failure.
    }
  }

  process_session& session_;
  std::mutex mutex_;
  std::condition_variable bell_;
  bool over_ = false;
  /// Thread of the keeper. It is the last member because it uses all other members.
  std::thread thread_;
};

}  // namespace redco::comm::detail
