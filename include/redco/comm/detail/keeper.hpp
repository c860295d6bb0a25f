#pragma once

#include <redco/comm/detail/process_session.hpp>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include <pthread.h>

namespace redco::comm::detail {

/// A thread that calls process_session::keep() twice a second. Other processes thus know, between
/// runs and after the last run, that this process is neither stopped nor gone.
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
  std::thread thread_;  ///< last member, because the thread uses all others
};

}  // namespace redco::comm::detail
