#pragma once

#include <redco/comm/detail/process_session.hpp>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include <pthread.h>

namespace redco::comm::detail {

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
