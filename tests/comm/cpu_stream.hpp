#pragma once

// A device stream in CPU memory: a thread of its own runs the enqueued functions in order.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace comm_test {

class cpu_stream {
 public:
  cpu_stream() : thread_([this] { work(); }) {}
  cpu_stream(cpu_stream const&) = delete;
  cpu_stream& operator=(cpu_stream const&) = delete;
  ~cpu_stream() {
    enqueue({});
    thread_.join();
  }

  void enqueue(std::function<void()> work) {
    {
      std::lock_guard const lock(mutex_);
      waiting_.push_back(std::move(work));
    }
    bell_.notify_one();
  }

 private:
  /// Runs functions until it takes an empty one.
  void work() {
    while (true) {
      std::function<void()> next;
      {
        std::unique_lock lock(mutex_);
        bell_.wait(lock, [&] { return !waiting_.empty(); });
        next = std::move(waiting_.front());
        waiting_.pop_front();
      }
      if (!next) return;
      next();
    }
  }

  std::mutex mutex_;
  std::condition_variable bell_;
  std::deque<std::function<void()>> waiting_;
  std::thread thread_;
};

}  // namespace comm_test
